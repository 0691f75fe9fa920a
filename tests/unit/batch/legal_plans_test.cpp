#include "ddpkit/batch/legal_plans.hpp"

#include <algorithm>
#include <random>
#include <tuple>

#include "ddpkit/base/error.hpp"
#include "support/catch.hpp"

using namespace ddpkit;
using Catch::Matchers::Contains;

namespace {

using Plans = std::vector<BatchPlan>;

constexpr std::int64_t kLargest = 9'223'372'036'854'775'807;

bool allows(const PlanQuery& query, std::int64_t micro, std::int64_t accumulate) {
  return micro == query.micro.value_or(micro) && micro <= query.max_micro.value_or(micro) &&
         accumulate == query.accumulate.value_or(accumulate);
}

// Every pair of factors there is, in an order written down a second time: by the largest, then by its distance from it.
Plans on_ranks_by_force(const PlanQuery& query, std::int64_t world) {
  Plans plans;
  for (std::int64_t micro = *query.global; micro >= 1; --micro)
    for (std::int64_t accumulate = *query.global / micro / world; accumulate >= 1; --accumulate) {
      if (micro * accumulate * world != *query.global) break;
      if (allows(query, micro, accumulate)) plans.push_back({*query.global, micro, accumulate});
    }
  const std::int64_t largest = plans.empty() ? 0 : plans.front().micro;
  const auto second_class = [&](const BatchPlan& plan) { return plan.micro % 8 != 0 || 4 * plan.micro < 3 * largest; };
  std::ranges::sort(plans, {}, [&](const BatchPlan& plan) { return std::tuple(second_class(plan), -plan.micro); });
  return plans;
}

Plans by_force(const PlanQuery& query) {
  if (query.world) return on_ranks_by_force(query, *query.world);
  Plans plans;
  for (std::int64_t world = 1; world <= *query.global; ++world)
    if (const Plans on = on_ranks_by_force(query, world); !on.empty()) plans.push_back(on.front());
  std::ranges::sort(plans, {}, [](const BatchPlan& plan) { return std::pair(plan.accumulate, plan.world_size()); });
  return plans;
}

class RandomQueries {
 public:
  PlanQuery next() {
    const bool world_given = chance(0.8);
    return {.global = number(world_given ? 360 : 48),
            .micro = chance(0.3) ? std::optional(number(48)) : std::nullopt,
            .max_micro = chance(0.5) ? std::optional(number(96)) : std::nullopt,
            .accumulate = chance(0.3) ? std::optional(number(12)) : std::nullopt,
            .world = world_given ? std::optional(number(12)) : std::nullopt};
  }

 private:
  bool chance(double p) { return std::uniform_real_distribution<>(0, 1)(random_) < p; }
  std::int64_t number(std::int64_t most) { return std::uniform_int_distribution<std::int64_t>(1, most)(random_); }

  std::mt19937_64 random_{17};
};

}  // namespace

TEST_CASE("plans and their order are those of brute force, in 100,000 random cases") {
  RandomQueries queries;
  std::int64_t with_plans = 0;
  for (int i = 0; i < 100'000; ++i) {
    const PlanQuery query = queries.next();
    const Plans expected = by_force(query);
    const LegalPlans legal = legal_plans(query);
    with_plans += expected.empty() ? 0 : 1;
    if (legal.plans == expected && !legal.reason.empty()) continue;
    CAPTURE(*query.global, query.micro.value_or(0), query.max_micro.value_or(0), query.accumulate.value_or(0),
            query.world.value_or(0), legal.reason);
    FAIL("other plans than brute force finds");
  }
  CHECK(with_plans > 20'000);
  CHECK(with_plans < 80'000);
}

TEST_CASE("128 on 2 ranks with room for 48 is micro 32, twice") {
  const LegalPlans legal = legal_plans({.global = 128, .max_micro = 48, .world = 2});
  CHECK(legal.plans.front() == BatchPlan{128, 32, 2});
  CHECK(legal.reason ==
        "micro 32 is the largest micro-batch up to 48 that divides the 64 samples that each of 2 ranks has of "
        "global batch 128");
}

TEST_CASE("a multiple of 8 is preferred to a little more, and not to much more") {
  CHECK(legal_plans({.global = 1200, .max_micro = 50, .world = 1}).plans.front().micro == 48);
  CHECK(legal_plans({.global = 120, .max_micro = 60, .world = 1}).plans.front().micro == 60);
  CHECK_THAT(legal_plans({.global = 1200, .max_micro = 50, .world = 1}).reason, Contains("a multiple of 8"));
}

TEST_CASE("with the number of ranks open, the fewest that need no accumulation come first") {
  const Plans plans = legal_plans({.global = 1024, .max_micro = 64}).plans;
  CHECK(plans.front() == BatchPlan{1024, 64, 1});
  CHECK(plans.front().world_size() == 16);
  CHECK(plans.back() == BatchPlan{1024, 64, 16});
}

TEST_CASE("with the global batch open it is the product of the rest") {
  CHECK(legal_plans({.micro = 24, .accumulate = 3, .world = 4}).plans == Plans{{288, 24, 3}});
  CHECK(legal_plans({.max_micro = 50, .world = 2}).plans == Plans{{96, 48, 1}});
  CHECK(legal_plans({.max_micro = 7}).plans == Plans{{7, 7, 1}});
}

TEST_CASE("why there is no plan is one sentence") {
  const auto reason = [](const PlanQuery& query) {
    const LegalPlans legal = legal_plans(query);
    CHECK(legal.plans.empty());
    return legal.reason;
  };
  CHECK(reason({.global = 1000, .world = 3}) == "global batch 1,000 cannot be shared equally by 3 ranks");
  CHECK(reason({.global = 128, .micro = 48, .world = 2}) ==
        "micro 48 does not divide the 64 samples that each of 2 ranks has of global batch 128");
  CHECK(reason({.global = 64, .accumulate = 5, .world = 2}) ==
        "accumulate 5 does not divide the 32 samples that each of 2 ranks has of global batch 64");
  CHECK(reason({.global = 64, .micro = 8, .accumulate = 3, .world = 2}) ==
        "micro 8 x accumulate 3 x 2 ranks makes 48, not the global batch 64");
  CHECK(reason({.global = 64, .micro = 32, .max_micro = 16, .world = 2}) ==
        "micro 32 is above the largest micro-batch allowed, 16");
  CHECK(reason({.global = 64, .max_micro = 16, .accumulate = 1, .world = 2}) ==
        "accumulate 1 makes micro-batches of 32 samples, above the largest allowed, 16");
  CHECK(reason({.global = 1 << 20, .micro = 1, .accumulate = 1}) == "global batch 1,048,576 needs more than 4,096 ranks here");
  CHECK(reason({.global = 100, .micro = kLargest, .accumulate = kLargest}) ==
        "global batch 100 is no multiple of micro 9,223,372,036,854,775,807 x accumulate 9,223,372,036,854,775,807");
}

TEST_CASE("sizes near 2^63 are planned like others") {
  const std::int64_t global = std::int64_t{1} << 62;
  CHECK(legal_plans({.global = global, .world = 1024}).plans.front() == BatchPlan{global, global >> 10, 1});
  CHECK(legal_plans({.global = global, .max_micro = 100, .world = 8}).plans.front().micro == 64);
  CHECK(legal_plans({.global = kLargest, .max_micro = kLargest, .world = 1}).plans.front() == BatchPlan{kLargest, kLargest, 1});
  CHECK(legal_plans({.global = 897'612'484'786'617'600, .world = 1}).plans.size() == 103'680);
  CHECK_FALSE(legal_plans({.global = 897'612'484'786'617'600, .max_micro = 1000}).plans.empty());
}

TEST_CASE("values below 1, too few values and products above 2^63 are refused") {
  CHECK_THROWS_AS(legal_plans({.global = 0, .world = 1}), UsageError);
  CHECK_THROWS_WITH(legal_plans({.global = 8, .world = -3}), "world: expected a whole number of at least 1, got -3");
  CHECK_THROWS_AS(legal_plans({.accumulate = 2, .world = 8}), UsageError);
  CHECK_THROWS_WITH(legal_plans({.micro = kLargest, .world = 2}), Contains("make one of them smaller"));
  CHECK_THROWS_AS(legal_plans({.micro = kLargest, .world = 2}), ConfigError);
}
