#include "ddpkit/observe/tally.hpp"

#include <cmath>

#include "ddpkit/base/error.hpp"
#include "ddpkit/comm/make_communicator.hpp"
#include "support/catch.hpp"

using namespace ddpkit;

TEST_CASE("a value is the sum of numerators over the sum of denominators, not a mean of means") {
  Tally tally;
  tally.add("accuracy", 3, 3);
  tally.add("accuracy", 0, 1);
  CHECK(tally.value("accuracy") == Approx(0.75));  // the mean of means would be 0.5
}

TEST_CASE("values keep the order in which their names came up") {
  Tally tally;
  tally.add("loss", 1, 2);
  tally.add("accuracy", 1, 4);
  tally.add("loss", 1, 2);
  const auto values = tally.values();
  REQUIRE(values.size() == 2);
  CHECK(values[0].name == "loss");
  CHECK(values[0].value == Approx(0.5));
  CHECK(values[1].name == "accuracy");
}

TEST_CASE("merging adds what both have and takes over what one has") {
  Tally a, b;
  a.add("loss", 1, 1);
  b.add("loss", 3, 1);
  b.add("tokens", 5, 1);
  a.merge(b);
  CHECK(a.value("loss") == Approx(2));
  CHECK(a.value("tokens") == Approx(5));
}

TEST_CASE("nothing counted is NaN, nothing named is an error, and nothing stays after clear") {
  Tally tally;
  tally.add("loss", 0, 0);
  CHECK(std::isnan(tally.value("loss")));
  CHECK_THROWS_AS(tally.value("accuracy"), UsageError);
  tally.clear();
  CHECK(tally.values().empty());
}

TEST_CASE("reducing over one rank changes nothing") {
  const auto comm = make_communicator({.backend = Backend::local});
  Tally tally;
  tally.reduce(*comm);
  CHECK(tally.values().empty());
  tally.add("loss", 1, 4);
  tally.reduce(*comm);
  CHECK(tally.value("loss") == Approx(0.25));
}
