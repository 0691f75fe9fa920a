#include "harness/estimate.hpp"

#include <catch2/catch.hpp>

#include "ddpkit/base/error.hpp"

namespace {

using bench::estimate;

// Rounds whose speed wanders by a factor of two, as on a machine that others use too.
std::vector<double> wandering(double seconds) {
  std::vector<double> values;
  for (int round = 0; round < 20; ++round) values.push_back(seconds * (1 + (round * 7 % 20) / 20.0));
  return values;
}

TEST_CASE("the median of an even number of values lies between the two in the middle") {
  CHECK(bench::median({4, 1, 3, 2}) == 2.5);
  CHECK(bench::median({9, 1, 5}) == 5);
}

TEST_CASE("an estimate compares medians, so one slow round does not count") {
  const std::vector<double> ours{1, 1, 1, 1, 50}, theirs{2, 2, 2, 2, 2};
  CHECK(estimate(ours, theirs, bench::ratio).value == 0.5);
  CHECK(estimate(ours, theirs, bench::speed_up).value == 2);
  CHECK(estimate(ours, theirs, bench::difference).value == -1);
}

TEST_CASE("what slows a round down for both leaves the interval of their ratio closed") {
  const bench::Estimate found = estimate(wandering(0.01), wandering(0.02), bench::ratio);
  CHECK(found.low == Approx(0.5));
  CHECK(found.high == Approx(0.5));
}

TEST_CASE("the interval holds the ratio and widens with what only one of them suffers") {
  std::vector<double> noisy = wandering(0.01);
  for (std::size_t i = 0; i < noisy.size(); i += 3) noisy[i] *= 1.5;
  const bench::Estimate found = estimate(noisy, wandering(0.01), bench::ratio);
  CHECK(found.low <= found.value);
  CHECK(found.high >= found.value);
  CHECK(found.high - found.low > 0.05);
}

TEST_CASE("the same rounds give the same interval") {
  const std::vector<double> ours{1, 2, 3, 4, 5, 6, 7}, theirs{2, 2, 4, 3, 7, 6, 5};
  const bench::Estimate first = estimate(ours, theirs, bench::ratio), second = estimate(ours, theirs, bench::ratio);
  CHECK(first.low == second.low);
  CHECK(first.high == second.high);
}

TEST_CASE("rounds that do not pair up are refused") {
  CHECK_THROWS_AS(estimate(std::vector<double>{1, 2}, std::vector<double>{1}, bench::ratio), ddpkit::UsageError);
  CHECK_THROWS_AS(estimate(std::vector<double>{}, std::vector<double>{}, bench::ratio), ddpkit::UsageError);
}

}  // namespace
