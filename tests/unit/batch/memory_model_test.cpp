#include "ddpkit/batch/memory_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ddpkit/base/random.hpp"
#include "support/catch.hpp"

using namespace ddpkit;

namespace {

constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();

std::vector<MicroMeasurement> peaks(std::initializer_list<std::pair<std::int64_t, std::int64_t>> points) {
  std::vector<MicroMeasurement> measured;
  for (const auto& [micro, bytes] : points) measured.push_back({.micro = micro, .seconds = 1, .peak_bytes = bytes});
  return measured;
}

}  // namespace

TEST_CASE("memory is read off between measurements and extended by the last segment") {
  const MemoryModel model(peaks({{64, 1000}, {128, 1100}, {256, 1500}}));
  CHECK(model.known());
  CHECK(model.peak_bytes(64) == Approx(1000));
  CHECK(model.peak_bytes(96) == Approx(1050));
  CHECK(model.peak_bytes(192) == Approx(1300));
  CHECK(model.peak_bytes(512) == Approx(2300));
  CHECK(model.peak_bytes(32) == Approx(950));
}

TEST_CASE("the largest size within so many bytes is exact") {
  const MemoryModel model(peaks({{1, 107}, {2, 114}, {4, 128}}));  // 100 + 7 b
  for (const std::int64_t micro : {1, 2, 3, 50, 1000}) {
    CHECK(model.largest_within(100.5 + 7 * static_cast<double>(micro)) == micro);
    CHECK(model.largest_within(99.5 + 7 * static_cast<double>(micro)) == micro - 1);
  }
  CHECK(model.largest_within(50) == 0);
}

TEST_CASE("memory that does not grow never binds") {
  const MemoryModel model(peaks({{1, 100}, {2, 100}, {1024, 100}}));
  CHECK(model.largest_within(100.01) == kUnlimited);
  CHECK(model.largest_within(99) == 0);
}

TEST_CASE("measurements without a peak tell nothing about memory") {
  const MemoryModel model(peaks({{1, 0}, {2, 0}}));
  CHECK_FALSE(model.known());
  CHECK(model.peak_bytes(1) == 0);
  CHECK(model.largest_within(1) == kUnlimited);
}

TEST_CASE("a single peak bounds the smaller sizes and says nothing about larger ones") {
  const MemoryModel model(peaks({{8, 500}}));
  CHECK_FALSE(model.known());
  CHECK(model.peak_bytes(8) == 500);
  CHECK(model.peak_bytes(4) == 500);
  CHECK(model.peak_bytes(16) == 0);
}

TEST_CASE("a peak out of line leaves the curve convex and rising") {
  const MemoryModel model(peaks({{1, 1040}, {2, 1000}, {4, 1100}, {8, 1060}, {16, 1400}, {32, 2200}}));
  double last = 0, last_slope = 0;
  for (int micro = 1; micro < 100; ++micro) {
    const double slope = model.peak_bytes(micro + 1) - model.peak_bytes(micro);
    CHECK(model.peak_bytes(micro) >= last);
    CHECK(slope >= last_slope - 1e-9);
    last = model.peak_bytes(micro);
    last_slope = slope;
  }
}

TEST_CASE("the curve agrees with the convex minorant found by trying all pairs") {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    CounterRandom random(random_key({seed, 2}));
    std::vector<MicroMeasurement> measured;
    for (std::int64_t micro = 1; micro < 200; micro += static_cast<std::int64_t>(1 + random.below(30)))
      measured.push_back(
          {.micro = micro, .seconds = 1, .peak_bytes = 1000 + 5 * micro + static_cast<std::int64_t>(random.below(300))});
    const std::size_t count = measured.size();
    std::vector<double> least(count), minorant(count);  // least: of this and all larger sizes
    for (std::size_t i = count; i-- > 0;) {
      const auto own = static_cast<double>(measured[i].peak_bytes);
      least[i] = i + 1 == count ? own : std::min(own, least[i + 1]);
    }
    double ratios = 0;
    for (std::size_t k = 0; k < count; ++k) {
      minorant[k] = least[k];
      for (std::size_t i = 0; i < k; ++i)
        for (std::size_t j = k + 1; j < count; ++j) {
          const auto span = static_cast<double>(measured[j].micro - measured[i].micro);
          const double part = static_cast<double>(measured[k].micro - measured[i].micro) / span;
          minorant[k] = std::min(minorant[k], std::lerp(least[i], least[j], part));
        }
      ratios += static_cast<double>(measured[k].peak_bytes) / minorant[k] / static_cast<double>(count);
    }
    const MemoryModel model(measured);
    for (std::size_t k = 0; k < count; ++k)
      CHECK(model.peak_bytes(static_cast<double>(measured[k].micro)) == Approx(ratios * minorant[k]));
  }
}

TEST_CASE("noise of 2 % leaves the predicted peak within 5 % up to the next doubling, and right in the mean") {
  double ratios = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    CounterRandom random(random_key({seed}));
    const auto truth = [](double b) { return std::max(2e8 + 1e6 * b, 1e8 + 2.5e6 * b); };
    std::vector<MicroMeasurement> measured;
    for (std::int64_t micro = 1; micro <= 256; micro *= 2) {
      const double noisy = truth(static_cast<double>(micro)) * (0.98 + 0.04 * random.uniform());
      measured.push_back({.micro = micro, .seconds = 1, .peak_bytes = static_cast<std::int64_t>(noisy)});
    }
    const MemoryModel model(measured);
    for (const double micro : {1.0, 3.0, 48.0, 100.0, 256.0, 384.0, 512.0})
      CHECK(model.peak_bytes(micro) == Approx(truth(micro)).epsilon(0.05));
    ratios += model.peak_bytes(32) / truth(32);
  }
  CHECK(ratios / 100 == Approx(1).epsilon(0.005));
}

TEST_CASE("sizes of 2^40 do not overflow the memory model") {
  constexpr std::int64_t kTera = std::int64_t{1} << 40;
  const MemoryModel model(peaks({{kTera / 2, kTera}, {kTera, 2 * kTera}}));
  CHECK(model.largest_within(3e12) == Approx(1.5e12));
  CHECK(model.largest_within(1e300) == kUnlimited);
}
