#include "ddpkit/testing/thread_world.hpp"

#include <atomic>
#include <vector>

#include "support/catch.hpp"

using namespace ddpkit;
using namespace ddpkit::testing;
using Catch::Matchers::Contains;

namespace {

void sum_of_four(Communicator& comm, std::string_view tag = {}) {
  std::vector<float> data(4, 1.0F);
  comm.all_reduce(std::span(data), ReduceOp::sum, tag).wait();
}

}  // namespace

TEST_CASE("what a rank throws first is rethrown, and the others get an error instead of a hang") {
  std::atomic<int> told = 0;
  const auto body = [&](Communicator& comm) {
    if (comm.rank() == 2) throw DataError("no such file");
    try {
      sum_of_four(comm);
    } catch (const CommError& error) {
      if (std::string_view(error.what()).find("rank 2 failed: no such file") != std::string_view::npos) ++told;
      throw;
    }
  };
  CHECK_THROWS_AS(run_ranks(4, body), DataError);
  CHECK(told == 3);
}

TEST_CASE("ranks that issue different operations are told apart") {
  const auto body = [](Communicator& comm) {
    std::vector<float> data(comm.rank() == 1 ? 5 : 4);
    comm.all_reduce(std::span(data), ReduceOp::sum, "bucket 0").wait();
  };
  CHECK_THROWS_WITH(run_ranks(2, body),
                    Contains("all_reduce of 5 float32 (sum) (bucket 0)") && Contains("all_reduce of 4 float32"));
}

TEST_CASE("a rank that returns while others wait is named at once") {
  const auto body = [](Communicator& comm) {
    if (comm.rank() != 1) sum_of_four(comm, "bucket 3");
  };
  CHECK_THROWS_WITH(run_ranks(3, body), Contains("bucket 3") && Contains("rank 1 returned without it"));
}

TEST_CASE("a rank that never comes is named when the time is up") {
  const auto body = [](Communicator& comm) {
    const auto other = comm.split(0, comm.rank());
    comm.rank() == 0 ? comm.barrier() : other->barrier();
  };
  try {
    run_ranks(2, body, {.timeout = std::chrono::milliseconds(50)});
    FAIL("a deadlock went unnoticed");
  } catch (const CommError& error) {
    CHECK(error.status() == ExitStatus::timeout);
    CHECK_THAT(error.what(), Contains("did not come within 50 ms"));
  }
}

TEST_CASE("abort ends every rank with its reason") {
  const auto body = [](Communicator& comm) {
    if (comm.rank() == 1) comm.abort(StorageError("disk is full"));
    sum_of_four(comm);
  };
  try {
    run_ranks(2, body);
    FAIL("abort went unnoticed");
  } catch (const CommError& error) {
    CHECK(error.status() == ExitStatus::storage);
    CHECK_THAT(error.what(), Contains("rank 1 aborted: disk is full"));
  }
}

TEST_CASE("ranks can be laid out over several nodes") {
  std::vector<Topology> seen(5);
  run_ranks(5, [&](Communicator& comm) { seen[static_cast<std::size_t>(comm.rank())] = comm.topology(); },
            {.ranks_per_node = 2});
  CHECK(seen[3].local_rank == 1);
  CHECK(seen[3].local_size == 2);
  CHECK(seen[3].node == 1);
  CHECK(seen[4].local_size == 1);
  CHECK(seen[4].node_count == 3);
  CHECK(seen[0].host != seen[4].host);
}
