#include "ddpkit/batch/noise_scale.hpp"

#include <array>
#include <cmath>
#include <random>
#include <vector>

#include "support/catch.hpp"

using namespace ddpkit;
using Catch::Matchers::Contains;

namespace {

constexpr std::size_t kInputs = 5;
using Vector = std::array<double, kInputs>;

double squared_norm(const Vector& v) {
  double sum = 0;
  for (const double x : v) sum += x * x;
  return sum;
}

/// Linear regression y = w* x + noise with independent normal inputs of known variances, `off` = w - w*. The gradient of one
/// sample is (off x - noise) x.
struct Regression {
  Vector input_variance{4, 2, 1, 0.5, 0.25};
  Vector off{0.3, -0.2, 0.5, 0.1, -0.4};
  double noise_variance = 0.5;

  /// With G = C off, E[g g^T] = (off C off) C + 2 G G^T + noise C, the fourth moments of a normal vector being known.
  double exact_noise_scale() const {
    Vector mean{};
    double off_c_off = 0, trace = 0;
    for (std::size_t i = 0; i < kInputs; ++i) {
      mean[i] = input_variance[i] * off[i];
      off_c_off += off[i] * mean[i];
      trace += input_variance[i];
    }
    return ((off_c_off + noise_variance) * trace + squared_norm(mean)) / squared_norm(mean);
  }

  Vector mean_gradient(int samples, std::mt19937_64& random) const {
    std::normal_distribution<double> normal;
    Vector sum{};
    for (int s = 0; s < samples; ++s) {
      Vector x{};
      double residual = -std::sqrt(noise_variance) * normal(random);
      for (std::size_t i = 0; i < kInputs; ++i) {
        x[i] = std::sqrt(input_variance[i]) * normal(random);
        residual += off[i] * x[i];
      }
      for (std::size_t i = 0; i < kInputs; ++i) sum[i] += residual * x[i] / samples;
    }
    return sum;
  }
};

/// As `ranks` ranks see it that have a small batch each.
NoiseObservation window_of(const Regression& problem, int small_batch, int ranks, std::mt19937_64& random) {
  Vector whole{};
  double small = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    const Vector gradient = problem.mean_gradient(small_batch, random);
    small += squared_norm(gradient) / ranks;
    for (std::size_t i = 0; i < kInputs; ++i) whole[i] += gradient[i] / ranks;
  }
  return {static_cast<double>(small_batch), small, static_cast<double>(small_batch * ranks), squared_norm(whole)};
}

/// As one rank sees it: the first micro-batch against the window.
NoiseObservation window_on_one_rank(const Regression& problem, int micro, int accumulate, std::mt19937_64& random) {
  const Vector first = problem.mean_gradient(micro, random);
  const Vector rest = problem.mean_gradient(micro * (accumulate - 1), random);
  Vector whole{};
  for (std::size_t i = 0; i < kInputs; ++i) whole[i] = (first[i] + rest[i] * (accumulate - 1)) / accumulate;
  return {static_cast<double>(micro), squared_norm(first), static_cast<double>(micro * accumulate), squared_norm(whole)};
}

enum class Seen { from_ranks, on_one_rank };

NoiseEstimate estimate_of(const Regression& problem, Seen seen, int windows, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  NoiseScale noise(100);
  for (int i = 0; i < windows; ++i)
    noise.observe(seen == Seen::from_ranks ? window_of(problem, 8, 4, random) : window_on_one_rank(problem, 8, 4, random));
  return noise.estimate();
}

int covered_seeds(const Regression& problem, Seen seen, int windows, int seeds) {
  int covered = 0;
  for (int seed = 0; seed < seeds; ++seed) {
    const NoiseEstimate estimate = estimate_of(problem, seen, windows, static_cast<std::uint64_t>(seed));
    covered += estimate.low <= problem.exact_noise_scale() && problem.exact_noise_scale() <= estimate.high ? 1 : 0;
  }
  return covered;
}

NoiseEstimate known(double noise_scale, double low, double high) {
  return {.noise_scale = noise_scale, .low = low, .high = high, .gradient = 1, .variance = noise_scale, .windows = 100};
}

}  // namespace

TEST_CASE("on linear regression the exact noise scale lies within the band in at least 9 of 10 seeds") {
  const Regression problem;
  CHECK(covered_seeds(problem, Seen::from_ranks, 150, 200) >= 180);
  CHECK(covered_seeds(problem, Seen::on_one_rank, 150, 200) >= 180);
}

TEST_CASE("the band tells little after few windows and more after many") {
  const Regression problem;
  const double exact = problem.exact_noise_scale();
  const NoiseEstimate few = estimate_of(problem, Seen::from_ranks, 5, 1);
  const NoiseEstimate many = estimate_of(problem, Seen::from_ranks, 100, 1);
  CHECK(many.high - many.low < (few.high - few.low) / 2);
  CHECK(many.high < 1.5 * exact);
  CHECK(many.low > exact / 1.5);
  CHECK(many.low < many.noise_scale);
  CHECK(many.noise_scale < many.high);
  CHECK(covered_seeds(problem, Seen::from_ranks, 5, 200) >= 180);
}

TEST_CASE("where the gradient is within its noise the band is open to above") {
  Regression at_the_minimum;
  at_the_minimum.off = {};
  int open = 0, above_ten = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const NoiseEstimate estimate = estimate_of(at_the_minimum, Seen::from_ranks, 60, seed);
    open += std::isinf(estimate.high) ? 1 : 0;
    above_ten += estimate.low > 10 ? 1 : 0;
  }
  CHECK(open >= 36);
  CHECK(above_ten >= 36);
}

TEST_CASE("norms without noise give a noise scale of zero, and norms alone the numbers of the paper") {
  NoiseScale quiet(10);
  for (int i = 0; i < 10; ++i) quiet.observe({8, 2.0, 32, 2.0});
  CHECK(quiet.estimate().noise_scale == 0);
  CHECK(quiet.estimate().gradient == Approx(2));

  NoiseScale one(10);  // |G|^2 = (4 * 3 - 1 * 6) / 3 = 2, tr = (6 - 3) / (1 - 1/4) = 4
  one.observe({1, 6, 4, 3});
  CHECK(one.estimate().gradient == Approx(2));
  CHECK(one.estimate().variance == Approx(4));
  CHECK(one.estimate().noise_scale == Approx(2));
  CHECK(one.estimate().low == 0);
  CHECK(std::isinf(one.estimate().high));
}

TEST_CASE("old windows fade, with the effective number that was asked for") {
  NoiseScale noise(20);
  for (int i = 0; i < 300; ++i) noise.observe({1, 6, 4, 3});
  for (int i = 0; i < 200; ++i) noise.observe({1, 9, 4, 3});
  CHECK(noise.estimate().noise_scale == Approx(8).epsilon(1e-6));
  CHECK(noise.estimate().windows == 500);
}

TEST_CASE("windows that say nothing are passed over") {
  NoiseScale noise(10);
  noise.observe({8, 1, 8, 1});
  noise.observe({0, 1, 8, 1});
  noise.observe({8, std::numeric_limits<double>::quiet_NaN(), 16, 1});
  noise.observe({8, 1, 16, std::numeric_limits<double>::infinity()});
  CHECK(noise.estimate().windows == 0);
  CHECK(std::isnan(noise.estimate().noise_scale));
}

TEST_CASE("steps to a target follow S_min (1 + B_crit / B)") {
  CHECK(steps_ratio(100, 100, 200) == Approx(0.75));
  CHECK(steps_ratio(100, 200, 100) == Approx(1 / 0.75));
  CHECK(steps_ratio(0, 100, 200) == 1);
  CHECK(steps_ratio(std::numeric_limits<double>::infinity(), 100, 400) == 0.25);
}

TEST_CASE("advice says where a batch stands and what doubling it buys") {
  CHECK(
      batch_advice(4096, known(790, 600, 1100)) ==
      "global batch 4,096 is 5.2 times the critical batch (790, band 600 to 1,100): doubling it would cut the steps to target "
      "by 8.1 %, halving it would add 16 %");
  CHECK(batch_advice(800, known(790, 600, 1100)) ==
        "global batch 800 is about the critical batch (790, band 600 to 1,100): doubling it would cut the steps to target by "
        "25 % and take 50 % more samples");
  CHECK(batch_advice(64, known(790, 600, 1100)) ==
        "global batch 64 is 1/12 of the critical batch (790, band 600 to 1,100): doubling it would cut the steps to target by "
        "46 % and take 7.5 % more samples");
}

TEST_CASE("advice does not pretend to know") {
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK_THAT(batch_advice(256, NoiseEstimate{}), Contains("not known"));
  CHECK_THAT(batch_advice(256, {.noise_scale = infinity, .low = 0, .high = infinity, .windows = 1}),
             Contains("cannot be told yet from 1 window"));
  CHECK(
      batch_advice(64, {.noise_scale = 900, .low = 300, .high = infinity, .windows = 20}) ==
      "global batch 64; the critical batch is above 300, how far cannot be told yet from 20 windows: doubling it would cut the "
      "steps to target by 41 % to 50 %; the band is wide, more windows would narrow it");
  CHECK_THAT(batch_advice(256, known(790, 40, 4000)), Contains("by 6.8 % to 47 %; the band is wide"));
  CHECK_THAT(batch_advice(100000, known(20, 1, 90)), Contains("is 5,000 times"));
  CHECK_THAT(batch_advice(256, known(0, 0, 3)), Contains("is far above the critical batch (0, band 0 to 3)"));
}
