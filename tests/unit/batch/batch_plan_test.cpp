#include "ddpkit/batch/batch_plan.hpp"

#include "ddpkit/base/error.hpp"
#include "support/catch.hpp"

using namespace ddpkit;
using Catch::Matchers::Contains;

TEST_CASE("with micro and accumulate open, each rank takes its share at once") {
  CHECK(solve_batch({.global = 512}, 1) == BatchPlan{512, 512, 1});
  CHECK(solve_batch({.global = 512}, 4) == BatchPlan{512, 128, 4 / 4});
}

TEST_CASE("the global batch stays the same on any number of ranks") {
  for (const std::int64_t ranks : {1, 2, 3, 4, 6, 12})
    for (const std::int64_t micro : {1, 2, 4}) {
      const BatchPlan plan = solve_batch({.global = 48, .micro = micro}, ranks);
      CHECK(plan.micro * plan.accumulate * ranks == 48);
    }
}

TEST_CASE("accumulate alone decides the micro-batch") {
  CHECK(solve_batch({.global = 64, .accumulate = 4}, 2) == BatchPlan{64, 8, 4});
}

TEST_CASE("products that cannot be are refused with the nearest that can") {
  CHECK_THROWS_WITH(solve_batch({.global = 100}, 3), Contains("99 or 102"));
  CHECK_THROWS_WITH(solve_batch({.global = 2}, 3), Contains("nearest: 3"));
  CHECK_THROWS_WITH(solve_batch({.global = 128, .micro = 48}, 2), Contains("nearest: 32"));
  CHECK_THROWS_WITH(solve_batch({.global = 64, .micro = 8, .accumulate = 3}, 2), Contains("accumulate would be 4"));
  CHECK_THROWS_AS(solve_batch({.global = 64, .accumulate = 5}, 2), ConfigError);
}
