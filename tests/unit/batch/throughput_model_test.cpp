#include "ddpkit/batch/throughput_model.hpp"

#include <cmath>
#include <limits>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/random.hpp"
#include "support/catch.hpp"

using namespace ddpkit;

namespace {

template <class Curve>
std::vector<MicroMeasurement> measure(std::initializer_list<std::int64_t> sizes, Curve curve, double relative_half_width = 0) {
  std::vector<MicroMeasurement> measured;
  for (const std::int64_t micro : sizes) {
    const double seconds = curve(static_cast<double>(micro));
    measured.push_back({.micro = micro, .seconds = seconds, .half_width = seconds * relative_half_width, .repeats = 5});
  }
  return measured;
}

double affine(double micro) {
  return 2e-3 + micro / 8000;
}

/// Roughly normal, variance 1: sum of twelve uniform numbers.
double normal(CounterRandom& random) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += random.uniform();
  return sum;
}

}  // namespace

TEST_CASE("an affine time is recovered, with its knee") {
  const ThroughputModel model(measure({1, 2, 4, 8, 16, 32, 64, 128, 256}, affine));
  CHECK(model.t0() == Approx(2e-3));
  CHECK(model.rate() == Approx(8000));
  CHECK(model.residual() < 1e-9);
  CHECK(model.basis() == ThroughputModel::Basis::fit);
  CHECK(model.knee(0.9).micro == Approx(144));
  CHECK(model.knee(0.5).micro == Approx(16));
  CHECK(model.efficiency(16) == Approx(0.5));
  CHECK(model.seconds(1000) == Approx(affine(1000)));
}

TEST_CASE("the fit agrees with the normal equations in long double") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    CounterRandom random(random_key({seed, 7}));
    auto measured = measure({1, 3, 8, 20, 64, 200, 512}, affine);
    for (auto& at : measured) {
      at.seconds *= 1 + 0.02 * normal(random);
      at.half_width = at.seconds * (0.01 + 0.03 * random.uniform());
    }
    long double s00 = 0, s01 = 0, s11 = 0, y0 = 0, y1 = 0;
    for (const auto& at : measured) {
      const long double t = at.seconds, b = at.micro, h = at.half_width / t / 1.96L;
      const long double weight = 1 / (h * h + 0.005L * 0.005L);
      s00 += weight / (t * t), s01 += weight * b / (t * t), s11 += weight * b * b / (t * t);
      y0 += weight / t, y1 += weight * b / t;
    }
    const long double det = s00 * s11 - s01 * s01;
    const ThroughputModel model(measured);
    CHECK(model.t0() == Approx(static_cast<double>((s11 * y0 - s01 * y1) / det)).epsilon(1e-9));
    CHECK(1 / model.rate() == Approx(static_cast<double>((s00 * y1 - s01 * y0) / det)).epsilon(1e-9));
  }
}

TEST_CASE("the band of the knee holds the truth nineteen times in twenty") {
  int inside = 0;
  double width = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    CounterRandom random(random_key({seed}));
    auto measured = measure({1, 2, 4, 8, 16, 32, 64, 128, 256, 512}, affine, 1.96 * 0.02);
    for (auto& at : measured) at.seconds *= 1 + 0.02 * normal(random);
    const auto knee = ThroughputModel(measured).knee(0.9);
    inside += knee.low <= 144 && 144 <= knee.high;
    width += (knee.high - knee.low) / 144 / 1000;
  }
  CHECK(inside >= 930);
  CHECK(width < 0.15);
}

TEST_CASE("a time that falls short of a start-up cost has none, and a time that does not grow has a plateau far away") {
  const ThroughputModel proportional(measure({1, 2, 4}, [](double b) { return b * (1 + 0.01 * b); }));
  CHECK(proportional.t0() == 0);
  CHECK(proportional.rate() > 0);
  const ThroughputModel flat(measure({1, 2, 4}, [](double) { return 0.01; }));
  CHECK(std::isfinite(flat.rate()));
  CHECK(flat.efficiency(4) < 0.001);
  CHECK(std::isfinite(flat.knee(0.9).high));
}

TEST_CASE("one size alone is taken for the plateau") {
  const ThroughputModel model(measure({32}, affine));
  CHECK(model.t0() == 0);
  CHECK(model.rate() == Approx(32 / affine(32)));
  CHECK(model.knee(0.9).micro == 1);
}

TEST_CASE("past a cache the measured curve is used") {
  const auto cache = [](double b) { return 1e-3 + (b <= 64 ? b : 64 + 2 * (b - 64)) / 10000; };
  const ThroughputModel model(measure({1, 2, 4, 8, 16, 32, 64, 128, 256}, cache));
  CHECK(model.residual() > 0.05);
  CHECK(model.basis() == ThroughputModel::Basis::measured);
  CHECK(model.seconds(64) == Approx(cache(64)));
  CHECK(model.seconds(96) == Approx(cache(96)));
  CHECK(model.efficiency(64) == Approx(1));
  CHECK(model.efficiency(256) < 0.7);
  const double wanted = 0.9 * 64 / cache(64);
  CHECK(model.knee(0.9).micro == Approx(wanted * 1e-3 / (1 - wanted / 10000)));
}

TEST_CASE("what its own interval explains is no reason to leave the fit") {
  for (const double half_width : {0.04, 0.005}) {
    auto measured = measure({1, 2, 4, 8, 16, 32, 64, 128}, affine, half_width);
    measured[3].seconds *= 1.08;
    const bool followed = ThroughputModel(measured).basis() == ThroughputModel::Basis::fit;
    CHECK(followed == (half_width == 0.04));
  }
}

TEST_CASE("a time whose interval is not known counts for less") {
  auto measured = measure({1, 2, 4, 8, 16, 32, 64, 128}, affine, 0.01);
  measured[7].seconds *= 1.08;
  measured[7].half_width = std::numeric_limits<double>::infinity();
  const ThroughputModel model(measured);
  CHECK(model.basis() == ThroughputModel::Basis::fit);
  CHECK(model.rate() == Approx(8000).epsilon(0.01));
}

TEST_CASE("sizes up to 2^40 keep their digits in the fit") {
  constexpr std::int64_t kTera = std::int64_t{1} << 40;
  const ThroughputModel model(measure({1, 1024, 1 << 20, 1 << 30, kTera}, [](double b) { return 1e-3 + b / 1e9; }));
  CHECK(model.t0() == Approx(1e-3));
  CHECK(model.rate() == Approx(1e9));
  CHECK(model.knee(0.9).micro == Approx(9e6));
}

TEST_CASE("a throughput model refuses what cannot be measured") {
  CHECK_THROWS_AS(ThroughputModel({}), UsageError);
  CHECK_THROWS_AS(ThroughputModel(measure({1, 2}, [](double) { return 0.0; })), UsageError);
  CHECK_THROWS_AS(ThroughputModel(measure({1, 2}, [](double) { return NAN; })), UsageError);
}
