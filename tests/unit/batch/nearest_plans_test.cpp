#include "ddpkit/batch/nearest_plans.hpp"

#include <algorithm>
#include <random>

#include "ddpkit/batch/legal_plans.hpp"
#include "support/catch.hpp"

using namespace ddpkit;

namespace {

bool has(const std::vector<NearPlan>& near, const BatchPlan& plan) {
  return std::ranges::any_of(near, [&](const NearPlan& candidate) { return candidate.plan == plan; });
}

}  // namespace

TEST_CASE("48 that does not divide gives way to 32, twice, before anything else moves") {
  const auto near = nearest_plans({.global = 128, .micro = 48, .world = 2});
  REQUIRE_FALSE(near.empty());
  CHECK(near.front().plan == BatchPlan{128, 32, 2});
  CHECK(near.front().cost == "micro 32 instead of 48: less work per pass");
  CHECK(has(near, {96, 48, 1}));
  CHECK(has(near, {192, 48, 2}));
}

TEST_CASE("a global batch that ranks cannot share has one below and one above, and other numbers of ranks") {
  const auto near = nearest_plans({.global = 256, .world = 3});
  CHECK(has(near, {255, 85, 1}));
  CHECK(has(near, {258, 86, 1}));
  CHECK(has(near, {256, 128, 1}));
  CHECK(has(near, {256, 64, 1}));
  CHECK(near.front().plan.global == 255);
  CHECK(near.front().cost == "global batch 255 instead of 256: 0.4 % fewer samples, another learning rate");
}

TEST_CASE("a poor micro-batch costs more than a few samples") {
  const auto near = nearest_plans({.global = 2 * 509, .max_micro = 64, .world = 2});
  CHECK(near.front().plan.micro > 32);
  CHECK(has(near, {1024, 64, 8}));
}

TEST_CASE("a triple that contradicts itself keeps either factor") {
  const auto near = nearest_plans({.global = 64, .micro = 8, .accumulate = 3, .world = 2});
  CHECK(has(near, {64, 8, 4}));
  CHECK(has(near, {48, 8, 3}));
  CHECK(near.front().plan == BatchPlan{64, 8, 4});
}

TEST_CASE("nearest plans are legal, differ from the query, say what moved, and stand in order") {
  std::mt19937_64 random(5);
  const auto number = [&](std::int64_t most) { return std::uniform_int_distribution<std::int64_t>(1, most)(random); };
  for (int i = 0; i < 3000; ++i) {
    PlanQuery query{.global = number(2000), .micro = number(64), .world = number(16)};
    if (i % 2 == 0) query.accumulate = number(8);
    if (i % 3 == 0) query.max_micro = number(64);
    const auto near = nearest_plans(query);
    CAPTURE(*query.global, *query.micro, *query.world, query.accumulate.value_or(0), query.max_micro.value_or(0));
    REQUIRE_FALSE(near.empty());
    for (const NearPlan& candidate : near) {
      const BatchPlan& plan = candidate.plan;
      REQUIRE(plan.micro * plan.accumulate * plan.world_size() == plan.global);
      REQUIRE(plan.micro <= query.max_micro.value_or(plan.micro));
      REQUIRE_FALSE(candidate.cost.empty());
    }
    REQUIRE(std::ranges::is_sorted(near, {}, &NearPlan::distance));
  }
}

TEST_CASE("the nearest plans of sizes near 2^63 do not run over") {
  const std::int64_t largest = 9'223'372'036'854'775'807;
  const auto near = nearest_plans({.global = largest, .micro = largest - 1, .world = 2});
  for (const NearPlan& candidate : near) CHECK(candidate.plan.global > 0);
  CHECK(nearest_plans({.micro = 8}).empty());
}
