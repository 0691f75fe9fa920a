#include "ddpkit/reduce/time_reductions.hpp"

#include <algorithm>

#include "ddpkit/comm/agree.hpp"
#include "ddpkit/comm/make_communicator.hpp"
#include "ddpkit/testing/emulated_link.hpp"
#include "support/catch.hpp"

TEST_CASE("reductions are timed by size, and every rank gets the same times") {
  const auto ranks = ddpkit::make_communicator();
  const auto points = ddpkit::time_reductions(*ranks, {.largest_bytes = 300 << 10, .patience_seconds = 10});
  REQUIRE(points.size() == 4);
  CHECK(points.front().bytes == 16 << 10);
  CHECK(points.back().bytes == 300 << 10);
  for (const ddpkit::TimedReduction& point : points) {
    CHECK(point.seconds > 0);
    const auto nanoseconds = static_cast<std::int64_t>(point.seconds * 1e9);
    CHECK(agree_min(*ranks, nanoseconds) == agree_max(*ranks, nanoseconds));
  }
}

TEST_CASE("the speed of a link is found by timing it, and a slow one is not tried for long") {
  const auto ranks = ddpkit::make_communicator();
  std::chrono::steady_clock::time_point time;  // virtual
  const auto now = [&] { return time; };
  const auto sleep_until = [&](std::chrono::steady_clock::time_point until) { time = std::max(time, until); };
  ddpkit::testing::EmulatedLink link(*ranks, {.latency = std::chrono::milliseconds(5), .bytes_per_second = 16e6},
                                     {.now = now, .sleep_until = sleep_until});
  const auto points =
      ddpkit::time_reductions({link, *ranks}, {.largest_bytes = 64 << 20, .patience_seconds = 0.008, .clock = {.now = now}});
  CHECK(points.back().bytes == 64 << 10);
  const ddpkit::ReductionCost cost = fit_reduction_cost(points);
  CHECK(cost.start_seconds == Approx(0.005));
  CHECK(cost.seconds_per_byte == Approx(1 / 16e6));
}
