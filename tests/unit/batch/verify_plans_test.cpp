#include "ddpkit/batch/verify_plans.hpp"

#include "ddpkit/base/error.hpp"
#include "support/catch.hpp"

namespace ddpkit {
namespace {

using Plans = std::vector<RankedPlan>;

TEST_CASE("speed is compared at the micro-batch and accumulation of the most ranks") {
  const std::vector<int> ranks{1, 2, 4};
  CHECK(scaling_plans({.global = 256}, ranks) == Plans{{1, {64, 64, 1}}, {2, {128, 64, 1}}, {4, {256, 64, 1}}});
  CHECK(scaling_plans({.global = 256, .micro = 16}, ranks) == Plans{{1, {64, 16, 4}}, {2, {128, 16, 4}}, {4, {256, 16, 4}}});
}

TEST_CASE("a run made for other numbers of ranks is taken as near as whole numbers allow") {
  const std::vector<int> ranks{1, 2};
  CHECK(scaling_plans({.global = 256, .micro = 64, .accumulate = 1}, ranks) == Plans{{1, {128, 64, 2}}, {2, {256, 64, 2}}});
  CHECK_THROWS_AS(scaling_plans({.global = 255}, ranks), ConfigError);
}

TEST_CASE("one global batch is made in several ways") {
  CHECK(equivalent_plans({.global = 256}, std::vector{1, 2, 4}) ==
        Plans{{1, {256, 256, 1}}, {1, {256, 128, 2}}, {1, {256, 64, 4}}, {2, {256, 128, 1}}, {4, {256, 64, 1}}});
}

TEST_CASE("no way takes a larger micro-batch than the one that is set") {
  CHECK(equivalent_plans({.global = 256, .micro = 32, .accumulate = 4}, std::vector{1, 2}) ==
        Plans{{1, {256, 32, 8}}, {1, {256, 16, 16}}, {1, {256, 8, 32}}, {2, {256, 32, 4}}});
}

TEST_CASE("numbers of ranks that do not divide the global batch are passed over") {
  CHECK(equivalent_plans({.global = 9}, std::vector{1, 2, 3}) == Plans{{1, {9, 9, 1}}, {3, {9, 3, 1}}});
  CHECK(equivalent_plans({.global = 1}, std::vector{2, 4}).empty());
}

}  // namespace
}  // namespace ddpkit
