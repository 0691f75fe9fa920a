#include "ddpkit/observe/tally.hpp"

#include <cmath>
#include <string>

#include "ddpkit/comm/make_communicator.hpp"
#include "support/catch.hpp"

using namespace ddpkit;

TEST_CASE("unequal counts on the ranks weigh as they should, and counts are not cut off") {
  const auto comm = make_communicator();
  const int ranks = comm->world_size();
  Tally tally;
  for (int row = 0; row <= comm->rank(); ++row) tally.add("right", comm->rank() % 2 == 0 ? 1 : 0, 1);
  tally.reduce(*comm);
  double right = 0, rows = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    right += rank % 2 == 0 ? rank + 1 : 0;
    rows += rank + 1;
  }
  CHECK(tally.value("right") == Approx(right / rows));
}

TEST_CASE("the loss that is shown is that of all ranks, on every rank") {
  const auto comm = make_communicator();
  Tally tally;
  tally.add("loss", 1 + 2 * comm->rank(), 1);
  tally.reduce(*comm);
  CHECK(tally.value("loss") == Approx(comm->world_size()));  // the mean of 1, 3, 5, ...
}

TEST_CASE("ranks that hold other names, other orders or none end with the same values") {
  const auto comm = make_communicator();
  Tally tally;
  if (comm->rank() == 0) {
    tally.add("loss", 1, 2);
    tally.add("first", 1, 1);
  } else if (comm->rank() == 1) {
    tally.add("second", 2, 1);
    tally.add("loss", 1, 2);
  }  // the others had no rows
  tally.reduce(*comm);
  std::string names;
  for (const Metric& metric : tally.values()) names += metric.name + ' ';
  CHECK(names == (comm->world_size() > 1 ? "loss first second " : "loss first "));
  CHECK(tally.value("loss") == Approx(0.5));
}
