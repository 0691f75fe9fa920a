#include "ddpkit/batch/batch_plan.hpp"

#include "ddpkit/base/error.hpp"
#include "support/catch.hpp"

using namespace ddpkit;
using Catch::Matchers::Contains;

TEST_CASE("with micro and accumulate open, each rank takes its share at once") {
  CHECK(solve_batch({.global = 512}, 1) == BatchPlan{512, 512, 1});
  CHECK(solve_batch({.global = 512}, 4) == BatchPlan{512, 128, 1});
  CHECK(solve_batch({.global = 300}, 3) == BatchPlan{300, 100, 1});
}

TEST_CASE("the global batch stays the same on any number of ranks") {
  for (const std::int64_t ranks : {1, 2, 3, 4, 6, 12})
    for (const std::int64_t micro : {1, 2, 4}) {
      const BatchPlan plan = solve_batch({.global = 48, .micro = micro}, ranks);
      CHECK(plan.micro * plan.accumulate * ranks == 48);
      CHECK(plan.world_size() == ranks);
    }
}

TEST_CASE("accumulate alone decides the micro-batch") {
  CHECK(solve_batch({.global = 64, .accumulate = 4}, 2) == BatchPlan{64, 8, 4});
}

TEST_CASE("the largest micro-batch bounds what is solved for") {
  CHECK(solve_batch({.global = 128, .max_micro = 48}, 2) == BatchPlan{128, 32, 2});
  CHECK(solve_batch({.global = 512, .max_micro = 96}, 4) == BatchPlan{512, 64, 2});
  CHECK_THROWS_WITH(solve_batch({.global = 128, .accumulate = 1, .max_micro = 48}, 2),
                    Contains("above the largest allowed, 48") && Contains("micro 32 x accumulate 2"));
}

TEST_CASE("products that cannot be are refused with the nearest that can, and what each costs") {
  CHECK_THROWS_WITH(solve_batch({.global = 100}, 3),
                    Contains("nearest: global batch 99 = micro 33 x accumulate 1 x 3 ranks") && Contains("global batch 102"));
  CHECK_THROWS_WITH(solve_batch({.global = 2}, 3), Contains("nearest: ") && Contains("global batch 3 = micro 1"));
  CHECK_THROWS_WITH(solve_batch({.global = 128, .micro = 48}, 2),
                    Contains("nearest: global batch 128 = micro 32 x accumulate 2 x 2 ranks (micro 32 instead of 48"));
  CHECK_THROWS_WITH(solve_batch({.global = 64, .micro = 8, .accumulate = 3}, 2),
                    Contains("not the global batch 64") && Contains("accumulate 4 instead of 3"));
  CHECK_THROWS_AS(solve_batch({.global = 64, .accumulate = 5}, 2), ConfigError);
}

TEST_CASE("what moved on another number of ranks is said in one line") {
  CHECK(what_moved(solve_batch({.global = 512}, 4), solve_batch({.global = 512}, 8)) ==
        "global batch 512 as before; micro 128 -> 64, accumulate 1 as before, ranks 4 -> 8");
}
