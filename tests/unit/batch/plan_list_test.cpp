#include "ddpkit/batch/plan_list.hpp"

#include <nlohmann/json.hpp>

#include "ddpkit/base/error.hpp"
#include "support/catch.hpp"

using namespace ddpkit;
using Catch::Matchers::Contains;

namespace {

const PlanQuery kEight{.global = 1024, .max_micro = 64, .world = 8};

constexpr std::int64_t kMiB = 1 << 20;

// 1 ms and 0.1 ms per sample; 10 MiB and 1 MiB per sample; measured at doublings up to 128.
BatchProfile linear_machine() {
  BatchProfile profile{.world_size = 2, .communication_seconds = 0.002, .memory_limit = 100 * kMiB, .dataset = 1000};
  for (std::int64_t micro = 1; micro <= 128; micro *= 2)
    profile.measured.push_back({.micro = micro,
                                .seconds = 0.001 + 0.0001 * static_cast<double>(micro),
                                .repeats = 10,
                                .peak_bytes = (10 + micro) * kMiB});
  return profile;
}

}  // namespace

TEST_CASE("the plans come with what they mean for the run") {
  const PlanList list = list_plans({.query = kEight,
                                    .terms = {.dataset = 60'000,
                                              .epochs = 5,
                                              .lr = 0.1,
                                              .schedule = {.scaling = Scaling::linear, .warmup = {5, Extent::Unit::percent}}}});
  REQUIRE(list.total == 7);
  CHECK(list.legal.front().plan == BatchPlan{1024, 64, 2});
  CHECK(*list.legal.front().outcome.lr == Approx(0.4));
  CHECK(*list.legal.front().outcome.warmup_steps == 15);
  CHECK(*list.legal.front().outcome.steps_per_epoch == 58);
  CHECK(*list.legal.front().outcome.dropped == 608);
  CHECK(list.nearest.empty());
}

TEST_CASE("the best plans are listed, or all of them") {
  CHECK(list_plans({.query = kEight, .most = 3}).legal.size() == 3);
  CHECK(list_plans({.query = kEight, .most = 3}).total == 7);
  CHECK(list_plans({.query = kEight, .most = 0}).legal.size() == 7);
}

TEST_CASE("where nothing fits, the nearest plans come with their own outcome and their cost") {
  const PlanList list = list_plans(
      {.query = {.global = 128, .micro = 48, .world = 2}, .terms = {.lr = 0.1, .schedule = {.scaling = Scaling::linear}}});
  CHECK(list.legal.empty());
  REQUIRE(list.nearest.size() > 2);
  CHECK(list.nearest[0].plan == BatchPlan{128, 32, 2});
  CHECK(*list.nearest[0].outcome.lr == Approx(0.05));
  CHECK(list.nearest[2].plan == BatchPlan{96, 48, 1});
  CHECK(*list.nearest[2].outcome.lr == Approx(0.0375));
}

TEST_CASE("a legal plan of tiny micro-batches is listed together with better ones nearby") {
  const PlanList list = list_plans({.query = {.global = 1018, .max_micro = 64, .world = 2}});
  CHECK(list.legal.front().plan == BatchPlan{1018, 1, 509});
  REQUIRE_FALSE(list.nearest.empty());
  CHECK(list.nearest.front().plan.micro > 32);
}

TEST_CASE("nothing near is offered that the data set cannot fill") {
  const PlanList list = list_plans({.query = {.global = 100, .world = 3}, .terms = {.dataset = 100}});
  for (const ListedPlan& near : list.nearest) CHECK(near.plan.global <= 100);
  const PlanTerms long_warmup{.dataset = 100, .epochs = 10, .schedule = {.warmup = {10, Extent::Unit::steps}}};
  CHECK_FALSE(list_plans({.query = {.global = 100, .world = 3}, .terms = long_warmup}).nearest.empty());
}

TEST_CASE("a memory limit needs a profile") {
  CHECK_THROWS_AS(list_plans({.query = kEight, .memory_limit = 1 << 30}), UsageError);
}

TEST_CASE("a profile predicts time and memory, and leaves out what does not fit") {
  const PlanList list = list_plans({.query = {.global = 256}, .profile = linear_machine()});
  REQUIRE(list.total == 7);  // 128 needs more than 90 of 100 MiB
  CHECK(list.legal.front().plan == BatchPlan{256, 64, 2});
  CHECK(list.legal.front().predicted->step_seconds == Approx(2 * 0.0074 + 0.002));
  CHECK(list.legal.front().predicted->peak_bytes == Approx(74.0 * kMiB));
  CHECK_THAT(list.reason, Contains("micro 64") && Contains("128 would"));
  for (std::size_t i = 2; i < list.legal.size(); ++i)
    CHECK(list.legal[i - 1].predicted->step_seconds <= list.legal[i].predicted->step_seconds);
}

TEST_CASE("times on other ranks than measured say whose communication is in them") {
  CHECK_THAT(list_plans({.query = {.global = 256, .world = 4}, .profile = linear_machine()}).reason,
             Contains("communication measured on 2 ranks"));
}

TEST_CASE("another memory limit moves the choice") {
  const PlanList list = list_plans({.query = {.global = 256}, .profile = linear_machine(), .memory_limit = 50 * kMiB});
  CHECK(list.legal.front().plan == BatchPlan{256, 32, 4});
}

TEST_CASE("a limit below one sample is said so") {
  const PlanList list = list_plans({.query = {.global = 256}, .profile = linear_machine(), .memory_limit = 10 * kMiB});
  CHECK(list.legal.empty());
  CHECK(list.nearest.empty());
  CHECK(list.reason ==
        "the memory of 9 MiB (90 % of 10 MiB) is below what one sample needs, 11 MiB; raise memory.limit or make "
        "the model smaller");
}

TEST_CASE("a micro-batch that does not fit has nearest ones that do") {
  const PlanList list = list_plans({.query = {.global = 512, .micro = 128}, .profile = linear_machine()});
  CHECK(list.legal.empty());
  CHECK_THAT(list.reason, Contains("the largest micro-batch that does is 80"));
  REQUIRE_FALSE(list.nearest.empty());
  CHECK(list.nearest.front().plan == BatchPlan{512, 64, 4});
  CHECK(list.nearest.front().predicted->fits);
}

TEST_CASE("a limit for a profile without memory, and a profile without measurements are refused") {
  BatchProfile profile = linear_machine();
  for (MicroMeasurement& measured : profile.measured) measured.peak_bytes = 0;
  CHECK_THROWS_AS(list_plans({.query = {.global = 256}, .profile = profile, .memory_limit = kMiB}), ConfigError);
  CHECK_THROWS_AS(list_plans({.query = {.global = 256}, .profile = BatchProfile{}}), ConfigError);
}

TEST_CASE("the table marks the first plan and leaves out what is not known") {
  const std::string table = plan_table(list_plans({.query = kEight, .most = 2}).legal).str();
  CHECK(table ==
        "   micro  accumulate  ranks  global\n"
        "*     64           2      8   1,024\n"
        "      32           4      8   1,024");
}

TEST_CASE("the JSON document has every plan with all digits") {
  const auto document = nlohmann::json::parse(
      to_json(list_plans({.query = {.global = std::int64_t{1} << 62, .world = 1}, .terms = {.lr = 0.1}, .most = 2})));
  CHECK(document["total"] == 63);
  CHECK(document["plans"].size() == 2);
  CHECK(document["plans"][0]["micro"] == std::int64_t{1} << 62);
  CHECK(document["plans"][0]["lr"] == 0.1);
  CHECK(document["nearest"].empty());
}
