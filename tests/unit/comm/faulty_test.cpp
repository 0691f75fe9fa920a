#include "ddpkit/testing/faulty.hpp"

#include <vector>

#include "ddpkit/comm/make_communicator.hpp"
#include "ddpkit/testing/logged_communicator.hpp"
#include "ddpkit/testing/thread_world.hpp"
#include "support/catch.hpp"

using namespace ddpkit;
using namespace ddpkit::testing;

namespace {

// A local rank whose operations are recorded below the fault.
struct Recorded {
  std::unique_ptr<Communicator> local = make_communicator({.backend = Backend::local});
  OpLog log;
  LoggedCommunicator logged{*local, log};
  std::vector<float> data = {1};

  Work sum(Communicator& comm, std::string_view tag) { return comm.all_reduce(std::span(data), ReduceOp::sum, tag); }
  std::vector<std::string> tags() const {
    std::vector<std::string> tags;
    for (const OpRecord& record : log.records()) tags.push_back(record.tag);
    return tags;
  }
};

using Tags = std::vector<std::string>;

}  // namespace

TEST_CASE("the chosen operation fails and the others pass") {
  Recorded rank;
  FaultyCommunicator comm(rank.logged, {.kind = Fault::Kind::fail, .operation = 1});
  CHECK_NOTHROW(rank.sum(comm, "a").wait());
  CHECK_THROWS_AS(rank.sum(comm, "b").wait(), CommError);
  CHECK_NOTHROW(rank.sum(comm, "c").wait());
  CHECK(rank.tags() == Tags{"a", "c"});
}

TEST_CASE("a dropped operation looks like one that timed out") {
  Recorded rank;
  FaultyCommunicator comm(rank.logged, {.kind = Fault::Kind::drop, .operation = 0});
  try {
    rank.sum(comm, "bucket 0").wait();
    FAIL("nothing was thrown");
  } catch (const CommError& error) {
    CHECK(error.status() == ExitStatus::timeout);
    CHECK_THAT(error.what(), Catch::Matchers::Contains("bucket 0"));
  }
}

TEST_CASE("a delayed operation holds back those behind it until enough have come") {
  Recorded rank;
  FaultyCommunicator comm(rank.logged, {.kind = Fault::Kind::delay, .operation = 1, .later_operations = 2});
  const Work a = rank.sum(comm, "a");
  const Work b = rank.sum(comm, "b");
  const Work c = rank.sum(comm, "c");
  CHECK(a.done());
  CHECK_FALSE(b.done());
  CHECK_FALSE(c.done());
  CHECK(rank.tags() == Tags{"a"});
  const Work d = rank.sum(comm, "d");
  CHECK(b.done());
  CHECK(d.done());
  CHECK(rank.tags() == Tags{"a", "b", "c", "d"});
}

TEST_CASE("waiting for a delayed operation lets it go") {
  Recorded rank;
  FaultyCommunicator comm(rank.logged, {.kind = Fault::Kind::delay, .operation = 0, .later_operations = 100});
  const Work a = rank.sum(comm, "a");
  const Work b = rank.sum(comm, "b");
  CHECK(rank.tags().empty());
  b.wait();
  CHECK(a.done());
  CHECK(rank.tags() == Tags{"a", "b"});
}

TEST_CASE("a latch decides when a delayed operation goes") {
  Recorded rank;
  std::latch gate(1);
  FaultyCommunicator comm(rank.logged, {.kind = Fault::Kind::delay, .operation = 0, .until = &gate});
  const Work a = rank.sum(comm, "a");
  const Work b = rank.sum(comm, "b");
  CHECK_FALSE(b.done());
  gate.count_down();
  CHECK(b.done());
  CHECK(rank.tags() == Tags{"a", "b"});
}

TEST_CASE("ranks agree although one of them is late") {
  std::vector<float> sums(2);
  run_ranks(2, [&](Communicator& inner) {
    FaultyCommunicator comm(
        inner,
        {.kind = Fault::Kind::delay, .operation = inner.rank() == 0 ? std::size_t{0} : std::size_t{9}, .later_operations = 1});
    std::vector<float> first = {1}, second = {10};
    const Work a = comm.all_reduce(std::span(first), ReduceOp::sum);
    const Work b = comm.all_reduce(std::span(second), ReduceOp::sum);
    b.wait();
    a.wait();
    sums[static_cast<std::size_t>(comm.rank())] = first[0] + second[0];
  });
  CHECK(sums == std::vector<float>{22, 22});
}

TEST_CASE("the log keeps kind, count, type and tag in order of issue") {
  Recorded rank;
  std::vector<Half> halves(6);
  rank.sum(rank.logged, "loss").wait();
  rank.logged.broadcast(std::span(halves), 0, "weights").wait();
  rank.logged.barrier();
  CHECK(rank.log.records() == std::vector<OpRecord>{{Collective::all_reduce, 1, DType::float32, "loss"},
                                                    {Collective::broadcast, 6, DType::float16, "weights"},
                                                    {Collective::barrier, 0, DType::uint8, ""}});
  CHECK(rank.log.count(Collective::broadcast) == 1);
  CHECK(describe(rank.log.records()[1]) == "broadcast 6 float16 weights");
}
