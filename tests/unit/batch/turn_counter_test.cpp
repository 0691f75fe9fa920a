#include "ddpkit/batch/turn_counter.hpp"

#include <cmath>
#include <vector>

#include "support/catch.hpp"

using namespace ddpkit;

namespace {

std::vector<std::int64_t> turns(const std::vector<double>& series) {
  TurnCounter counter;
  std::vector<std::int64_t> counts;
  for (const double value : series) counts.push_back(counter.observe(value));
  return counts;
}

using Counts = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("a series that falls never turns, and one that swings turns each time") {
  CHECK(turns({5, 4, 3, 2}) == Counts{0, 0, 0, 0});
  CHECK(turns({5, 4, 5, 4, 5}) == Counts{0, 0, 1, 2, 3});
}

TEST_CASE("two values in one direction end the row") {
  CHECK(turns({5, 4, 5, 4, 3, 4}) == Counts{0, 0, 1, 2, 0, 1});
}

TEST_CASE("equal values and those that are no numbers are passed over") {
  CHECK(turns({5, 4, 4, 5, NAN, INFINITY, 4}) == Counts{0, 0, 0, 1, 1, 1, 2});
}

TEST_CASE("a counter goes on from a saved state") {
  TurnCounter first;
  for (const double value : {5.0, 4.0, 5.0}) first.observe(value);
  TurnCounter second;
  second.set_state(first.state());
  CHECK(second.observe(4) == 2);
}
