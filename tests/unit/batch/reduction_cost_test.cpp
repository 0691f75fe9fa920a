#include "ddpkit/batch/reduction_cost.hpp"

#include <vector>

#include "support/catch.hpp"

using namespace ddpkit;

TEST_CASE("points on a line give the line") {
  std::vector<TimedReduction> points;
  for (const double bytes : {1e3, 1e5, 1e6, 2e7}) points.push_back({bytes, 5e-5 + bytes * 1e-9});
  const ReductionCost cost = fit_reduction_cost(points);
  CHECK(cost.start_seconds == Approx(5e-5));
  CHECK(cost.seconds_per_byte == Approx(1e-9));
  CHECK(cost.of(1e6) == Approx(1.05e-3));
}

TEST_CASE("small and large sizes weigh alike") {
  const std::vector<TimedReduction> points{{1e3, 1e-4}, {1e3, 1.2e-4}, {1e8, 1.0}, {1e8, 1.2}};
  const ReductionCost cost = fit_reduction_cost(points);
  CHECK(cost.of(1e3) == Approx(1.1e-4).epsilon(0.02));
  CHECK(cost.of(1e8) == Approx(1.1).epsilon(0.02));
}

TEST_CASE("no part of a cost is below zero") {
  const std::vector<TimedReduction> steep{{1e6, 1e-3}, {2e6, 4e-3}}, falling{{1e6, 2e-3}, {2e6, 1e-3}};
  CHECK(fit_reduction_cost(steep).start_seconds == 0);
  CHECK(fit_reduction_cost(steep).seconds_per_byte > 0);
  CHECK(fit_reduction_cost(falling).start_seconds > 0);
  CHECK(fit_reduction_cost(falling).seconds_per_byte == 0);
}

TEST_CASE("little to go by gives what can be said") {
  CHECK(fit_reduction_cost({}).of(1e9) == 0);
  CHECK(fit_reduction_cost(std::vector<TimedReduction>{{1e6, 1e-3}, {1e6, 1e-3}}).of(2e6) == Approx(2e-3));
  CHECK(fit_reduction_cost(std::vector<TimedReduction>{{0, 1e-3}}).of(2e6) == Approx(1e-3));
}
