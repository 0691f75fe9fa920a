#include "ddpkit/batch/plan_outcome.hpp"

#include <random>

#include "ddpkit/base/error.hpp"
#include "ddpkit/data/sharded_sampler.hpp"
#include "support/catch.hpp"

using namespace ddpkit;
using Catch::Matchers::Contains;

TEST_CASE("the rate follows the global batch by the scaling that is chosen") {
  const auto lr = [](Scaling scaling) {
    return *outcome_of(1024, {.lr = 0.1, .schedule = {.scaling = scaling, .reference_batch = 256}}).lr;
  };
  CHECK(lr(Scaling::none) == 0.1);
  CHECK(lr(Scaling::linear) == Approx(0.4));
  CHECK(lr(Scaling::square_root) == Approx(0.2));
  CHECK(*outcome_of(512, {.lr = 0.1, .schedule = {.preset = SchedulePreset::goyal_imagenet}}).lr == Approx(0.2));
  CHECK_FALSE(outcome_of(1024, {}).lr);
}

TEST_CASE("steps, dropped and padded samples are those of the sampler") {
  std::mt19937_64 random(2);
  for (int i = 0; i < 1000; ++i) {
    const std::int64_t global = 1 + static_cast<std::int64_t>(random() % 300);
    const std::int64_t samples = global + static_cast<std::int64_t>(random() % 5000);
    for (const Tail tail : {Tail::drop, Tail::pad, Tail::partial}) {
      const ShardedSampler sampler(samples, {.global = global, .tail = tail, .phase = Phase::train});
      const PlanOutcome outcome = outcome_of(global, {.dataset = samples, .tail = tail});
      REQUIRE(*outcome.steps_per_epoch == sampler.windows_from(0));
      REQUIRE(*outcome.steps_per_epoch * global ==
              samples - *outcome.dropped + *outcome.padded +
                  (tail == Tail::partial && samples % global ? global - samples % global : 0));
      REQUIRE((tail == Tail::drop || *outcome.dropped == 0));
      REQUIRE((tail == Tail::pad || *outcome.padded == 0));
    }
  }
}

TEST_CASE("warm-up is in steps of the run, where the run is known") {
  const PlanTerms run{.dataset = 60'000, .epochs = 5, .schedule = {.warmup = {5, Extent::Unit::percent}}};
  const PlanOutcome outcome = outcome_of(1024, run);
  CHECK(*outcome.steps == 290);
  CHECK(*outcome.warmup_steps == 15);
  CHECK_FALSE(outcome_of(1024, {.schedule = run.schedule}).warmup_steps);
  CHECK(*outcome_of(1024, {.steps = 100, .schedule = run.schedule}).warmup_steps == 5);
}

TEST_CASE("terms that leave no step are refused with what to change") {
  CHECK_THROWS_WITH(outcome_of(1024, {.dataset = 1000}), Contains("tail partial or a smaller global batch"));
  CHECK_THROWS_AS(outcome_of(1024, {.dataset = 1000}), ConfigError);
  CHECK(*outcome_of(1024, {.dataset = 1000, .tail = Tail::partial}).steps_per_epoch == 1);
  CHECK_THROWS_WITH(outcome_of(8, {.steps = 10, .schedule = {.warmup = {11, Extent::Unit::steps}}}), Contains("shorten it"));
  CHECK_THROWS_AS(outcome_of(1, {.dataset = std::int64_t{1} << 62, .epochs = 3}), ConfigError);
}
