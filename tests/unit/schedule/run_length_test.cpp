#include "ddpkit/schedule/run_length.hpp"

#include "ddpkit/base/error.hpp"
#include "support/catch.hpp"

using namespace ddpkit;

namespace {

std::int64_t count(double amount, Extent::Unit unit, RunLength run = {.steps = 100, .steps_per_epoch = 25}) {
  return steps_in({amount, unit}, run, "field");
}

}  // namespace

TEST_CASE("percentages round up to whole steps, and whole ones stay whole") {
  using enum Extent::Unit;
  CHECK(count(5, percent) == 5);
  CHECK(count(5, percent, {.steps = 30}) == 2);
  CHECK(count(0.1, percent) == 1);
  CHECK(count(0, percent) == 0);
  CHECK(count(100, percent) == 100);
  for (std::int64_t total = 1; total <= 1000; ++total)
    for (std::int64_t hundredths = 1; hundredths <= 100; ++hundredths)
      REQUIRE(count(static_cast<double>(hundredths), percent, {.steps = total}) == (total * hundredths + 99) / 100);
}

TEST_CASE("parts of epochs round up to whole steps") {
  using enum Extent::Unit;
  CHECK(count(2, epochs) == 50);
  CHECK(count(0.1, epochs) == 3);
  CHECK(count(1.2, epochs) == 30);
}

TEST_CASE("a stretch that cannot be is refused with the name of its field") {
  using enum Extent::Unit;
  CHECK_THROWS_AS(count(2.5, Extent::Unit::steps), ConfigError);
  CHECK_THROWS_AS(count(-1, epochs), ConfigError);
  CHECK_THROWS_AS(count(101, percent), ConfigError);
  CHECK_THROWS_AS(count(1, epochs, {.steps = 100}), ConfigError);
  CHECK_THROWS_AS(count(1e300, epochs), ConfigError);
  CHECK_THROWS_WITH(count(-1, Extent::Unit::steps), Catch::Matchers::StartsWith("field: got -1"));
}
