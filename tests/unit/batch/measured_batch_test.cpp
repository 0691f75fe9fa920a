#include "ddpkit/batch/measured_batch.hpp"

#include <cmath>

#include "support/catch.hpp"

using namespace ddpkit;
using enum Extent::Unit;

namespace {

constexpr RunBounds kRun{.epochs = 10, .samples = 1000};

NoiseEstimate noise(double scale) {
  return {.noise_scale = scale, .low = 0.9 * scale, .high = 1.1 * scale, .windows = 5};
}

MeasuredBatch growing(GrowthOptions growth) {
  growth.by = GrowthBy::noise_scale;
  return MeasuredBatch({.global = 100, .growth = growth}, kRun, 2);
}

MeasuredBatch shrinking(const ShrinkOptions& shrink, std::int64_t world_size = 2) {
  return MeasuredBatch({.global = 24, .shrink = shrink}, kRun, world_size);
}

/// Evaluations that swing around 1; returns at which of them the batch was halved.
std::vector<std::int64_t> halvings(MeasuredBatch& batch, std::int64_t evaluations) {
  std::vector<std::int64_t> halved;
  for (std::int64_t i = 0; i < evaluations; ++i)
    if (batch.consider({.epoch = i}, i % 2 == 0 ? 1.1 : 0.9)) halved.push_back(i);
  return halved;
}

}  // namespace

TEST_CASE("the batch grows when the noise scale has reached the batch that it grows to") {
  MeasuredBatch batch = growing({.every = {3, steps}});
  CHECK_FALSE(batch.consider({.step = 3}, noise(199)));
  CHECK(batch.consider({.step = 3}, noise(200)) == "the noise scale is 200 samples (band 180 to 220)");
  CHECK(batch.now() == BatchInForce{200, 100});
}

TEST_CASE("growth keeps its distance from the change before") {
  MeasuredBatch batch = growing({.every = {3, steps}});
  CHECK_FALSE(batch.consider({.step = 2}, noise(900)));
  CHECK(batch.consider({.step = 4}, noise(900)));
  CHECK_FALSE(batch.consider({.step = 6}, noise(900)));
  CHECK(batch.consider({.step = 7}, noise(900)));
}

TEST_CASE("growth ends at its limit, and at the data set where it has none") {
  MeasuredBatch limited = growing({.every = {1, steps}, .factor = 2, .max = 300});
  CHECK(limited.consider({.step = 1}, noise(1e9)));
  CHECK_FALSE(limited.consider({.step = 2}, noise(1e9)));
  MeasuredBatch free = growing({.every = {1, steps}, .factor = 10});
  CHECK(free.consider({.step = 1}, noise(1e9)));
  CHECK_FALSE(free.consider({.step = 2}, noise(1e9)));
  CHECK(free.now().global == 1000);
}

TEST_CASE("an estimate that is none changes nothing") {
  MeasuredBatch batch = growing({.every = {1, steps}});
  CHECK_FALSE(batch.consider({.step = 5}, NoiseEstimate{}));
  CHECK_FALSE(batch.consider({.step = 5}, NoiseEstimate{.noise_scale = NAN, .low = 500, .windows = 5}));
}

TEST_CASE("an estimate whose band reaches down to the present batch changes nothing, and an open end above is no hindrance") {
  MeasuredBatch batch = growing({.every = {1, steps}});
  CHECK_FALSE(batch.consider({.step = 5}, NoiseEstimate{.noise_scale = 900, .low = 100, .windows = 5}));
  CHECK_FALSE(batch.consider({.step = 5}, NoiseEstimate{.noise_scale = INFINITY, .low = 0, .windows = 5}));
  CHECK(batch.consider({.step = 5}, NoiseEstimate{.noise_scale = INFINITY, .low = 101, .windows = 5}));
}

TEST_CASE("growth may take the rate with it") {
  MeasuredBatch batch = growing({.every = {1, steps}, .lr = RateChange::scale});
  batch.consider({.step = 1}, noise(900));
  CHECK(batch.now() == BatchInForce{200, 200});
}

TEST_CASE("the batch is halved after so many turns in a row, which are then counted anew") {
  MeasuredBatch batch = shrinking({.oscillations = 2});
  CHECK(halvings(batch, 9) == std::vector<std::int64_t>{3, 7});
  CHECK(batch.now() == BatchInForce{6, 6});
}

TEST_CASE("halving ends at its limit, at odd batches, and where the ranks could not share") {
  MeasuredBatch limited = shrinking({.oscillations = 1, .min = 12});
  halvings(limited, 30);
  CHECK(limited.now().global == 12);
  MeasuredBatch alone = shrinking({.oscillations = 1}, 1);
  halvings(alone, 30);
  CHECK(alone.now().global == 3);
  MeasuredBatch shared = shrinking({.oscillations = 1}, 4);
  halvings(shared, 30);
  CHECK(shared.now().global == 12);
}

TEST_CASE("a rule that is not asked for does nothing") {
  MeasuredBatch neither({.global = 24}, kRun, 1);
  CHECK_FALSE(neither.consider({.step = 50}, noise(1e9)));
  CHECK(halvings(neither, 20).empty());
}

TEST_CASE("a saved state goes on as if nothing had been between") {
  MeasuredBatch whole = shrinking({.oscillations = 3});
  MeasuredBatch first = shrinking({.oscillations = 3});
  for (const double loss : {1.0, 2.0, 1.0}) whole.consider({}, loss), first.consider({}, loss);
  MeasuredBatch second = shrinking({.oscillations = 3});
  second.set_state(first.state());
  for (const double loss : {2.0, 1.0, 2.0}) {
    CHECK(whole.consider({}, loss) == second.consider({}, loss));
    CHECK(whole.now() == second.now());
  }
  CHECK(second.now().global == 12);
}
