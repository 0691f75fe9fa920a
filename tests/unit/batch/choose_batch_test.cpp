#include "ddpkit/batch/choose_batch.hpp"

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/random.hpp"
#include "support/catch.hpp"

using namespace ddpkit;
using Catch::Matchers::Contains;
using Catch::Matchers::Equals;

namespace {

/// t(b) = 10 ms + b / 1000, 100 MiB + 1 MiB a sample: knee at 90.
BatchProfile measured_to(std::int64_t largest) {
  BatchProfile profile;
  for (std::int64_t micro = 1; micro <= largest; micro *= 2)
    profile.measured.push_back(
        {.micro = micro, .seconds = 0.01 + static_cast<double>(micro) / 1000, .repeats = 5, .peak_bytes = (100 + micro) << 20});
  return profile;
}

BatchProfile limited(std::int64_t mebibytes) {
  BatchProfile profile = measured_to(64);
  profile.memory_limit = mebibytes << 20;
  return profile;
}

}  // namespace

TEST_CASE("the smallest micro-batch that reaches the knee is chosen and explained") {
  const BatchChoice choice = choose_batch(limited(320), 384 * 2, 2);
  CHECK(choice.chosen.plan.micro == 96);
  CHECK(choice.chosen.plan == BatchPlan{768, 96, 4});
  CHECK(choice.chosen.step_seconds == Approx(4 * 0.106));
  CHECK(choice.chosen.samples_per_second == Approx(768 / (4 * 0.106)));
  CHECK(choice.chosen.efficiency == Approx(96.0 / 106));
  CHECK(choice.chosen.peak_bytes == Approx(196 << 20));
  CHECK(choice.others.size() == 16);
  CHECK_THAT(choice.explanation, Equals("micro 96: 91 % of the plateau, 61 % of memory; 128 would gain 2.4 % and needs 71 %"));
}

TEST_CASE("where none that fits reaches the knee, the fastest is chosen, or a smaller one as good") {
  CHECK(choose_batch(limited(200), 768, 2).chosen.plan.micro == 64);
  CHECK(choose_batch(limited(400), 16, 1).chosen.plan.micro == 16);
  BatchProfile slow = measured_to(64);
  slow.measured.push_back({.micro = 65, .seconds = 0.075, .repeats = 5, .peak_bytes = 165 << 20});
  CHECK(choose_batch(slow, 65 * 64, 1).chosen.plan.micro == 64);
}

TEST_CASE("communication and update are part of the step, once") {
  BatchProfile profile = measured_to(256);
  profile.communication_seconds = 0.3;
  profile.update_seconds = 0.1;
  const RatedPlan plan = choose_batch(profile, 256, 1).chosen;
  CHECK(plan.plan.micro == 64);  // with the fixed 0.4 s the micro-batch matters less
  CHECK(plan.step_seconds == Approx(4 * 0.074 + 0.4));
  CHECK(plan.efficiency == Approx((0.256 + 0.4) / (4 * 0.074 + 0.4)));
}

TEST_CASE("a size that ran out of memory is never chosen, whatever the fit says") {
  BatchProfile profile = measured_to(32);
  profile.memory_limit = std::int64_t{1} << 30;
  profile.out_of_memory = {48};
  const BatchChoice choice = choose_batch(profile, 96, 1);
  CHECK(choice.chosen.plan.micro == 32);
  CHECK_THAT(choice.explanation, Contains("48 would gain 8.6 % but runs out of memory"));
  for (const RatedPlan& plan : choice.others) CHECK(plan.fits == (plan.plan.micro < 48));
}

TEST_CASE("without known memory sizes beyond the measured ones are not chosen") {
  BatchProfile profile = measured_to(16);
  for (auto& at : profile.measured) at.peak_bytes = 0;
  const BatchChoice choice = choose_batch(profile, 64, 1);
  CHECK(choice.chosen.plan.micro == 16);
  CHECK(choice.chosen.memory_share == 0);
  CHECK_THAT(choice.explanation, Equals("micro 16: 62 % of the plateau; 32 would gain 24 % but was not tried"));
}

TEST_CASE("no size below the smallest measured one is chosen while there are others") {
  BatchProfile profile;
  for (const std::int64_t micro : {32, 64, 128})  // equally fast
    profile.measured.push_back({.micro = micro, .seconds = static_cast<double>(micro) / 1000, .repeats = 5});
  CHECK(choose_batch(profile, 128, 1).chosen.plan.micro == 32);
  CHECK(choose_batch(profile, 48, 1).chosen.plan.micro == 48);
  CHECK(choose_batch(profile, 16, 1).chosen.plan.micro == 16);
}

TEST_CASE("where the limit is not known the explanation speaks of bytes") {
  CHECK_THAT(choose_batch(measured_to(64), 64, 1).explanation, Equals("micro 64: 86 % of the plateau, 164 MiB of memory"));
}

TEST_CASE("the world size may differ from the measured one") {
  BatchProfile profile = measured_to(256);
  profile.world_size = 4;
  CHECK(choose_batch(profile, 768, 3).chosen.plan == BatchPlan{768, 128, 2});
}

TEST_CASE("every product is exact, and the choice keeps its promises, on random profiles") {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    CounterRandom random(random_key({seed}));
    BatchProfile profile = limited(120 + static_cast<std::int64_t>(random.below(400)));
    const auto world = static_cast<std::int64_t>(1 + random.below(5)),
               local = static_cast<std::int64_t>(1 + random.below(3000));
    const BatchChoice choice = choose_batch(profile, world * local, world);
    REQUIRE(choice.chosen.fits);
    CHECK(choice.chosen.memory_share <= 0.9);
    for (const RatedPlan& plan : choice.others) {
      CHECK(plan.plan.micro * plan.plan.accumulate * world == world * local);
      if (plan.fits) CHECK(choice.chosen.efficiency >= std::min(0.9, 0.99 * plan.efficiency));
      if (plan.fits && plan.plan.micro < choice.chosen.plan.micro) CHECK(plan.efficiency < choice.chosen.efficiency);
    }
  }
}

TEST_CASE("what cannot be chosen is said in a sentence that tells what to change") {
  CHECK_THROWS_WITH(choose_batch(limited(232), 100, 3), Contains("set it to 99 or 102"));
  CHECK_THROWS_WITH(choose_batch(limited(232), 2, 3), Contains("set it to 3"));
  CHECK_THROWS_WITH(choose_batch(limited(232), 0, 3), Contains("must be positive"));
  CHECK_THROWS_WITH(choose_batch(limited(50), 64, 1),
                    Contains("the smallest, 1, needs 202 % of memory, and memory.target allows 90 %"));
  CHECK_THROWS_WITH(choose_batch({}, 64, 1), Contains("no micro-batch was measured"));
  BatchProfile failed;
  failed.out_of_memory = {4};
  CHECK_THROWS_WITH(choose_batch(failed, 64, 1), Contains("even micro-batch 4 ran out of memory; lower tune.min_micro"));
  CHECK_THROWS_AS(choose_batch(failed, 64, 1), ConfigError);
}

TEST_CASE("a local batch of 2^40 is chosen for without overflow") {
  BatchProfile profile = measured_to(256);
  profile.memory_limit = std::int64_t{1} << 40;
  const RatedPlan plan = choose_batch(profile, std::int64_t{1} << 42, 4).chosen;
  CHECK(plan.plan.micro == 128);
  CHECK(plan.plan.micro * plan.plan.accumulate == std::int64_t{1} << 40);
}
