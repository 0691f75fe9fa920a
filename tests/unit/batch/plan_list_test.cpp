#include "ddpkit/batch/plan_list.hpp"

#include <nlohmann/json.hpp>

#include "ddpkit/base/error.hpp"
#include "support/catch.hpp"

using namespace ddpkit;
using Catch::Matchers::Contains;

namespace {

const PlanQuery kEight{.global = 1024, .max_micro = 64, .world = 8};

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
}

TEST_CASE("a memory limit needs a profile") {
  CHECK_THROWS_AS(list_plans({.query = kEight, .memory_limit = 1 << 30}), UsageError);
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
