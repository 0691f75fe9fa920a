#include "ddpkit/comm/mpi/wrap.hpp"

#include <cstdlib>
#include <latch>
#include <thread>
#include <vector>

#include "ddpkit/comm/agree.hpp"
#include "ddpkit/comm/make_communicator.hpp"
#include "support/catch.hpp"

using namespace ddpkit;

namespace {

constexpr CommOptions kMpi{.backend = Backend::mpi, .timeout = std::chrono::seconds(20)};

float sum_of_ones(Communicator& comm) {
  float one = 1;
  comm.all_reduce(std::span(&one, 1), ReduceOp::sum).wait();
  return one;
}

struct StrayVariables {
  StrayVariables() {
    setenv("RANK", "5", 1);
    setenv("WORLD_SIZE", "9", 1);
    setenv("LOCAL_RANK", "0", 1);
  }
  ~StrayVariables() {
    for (const char* name : {"RANK", "WORLD_SIZE", "LOCAL_RANK"}) unsetenv(name);
  }
};

}  // namespace

TEST_CASE("under a launcher auto means mpi") {
  CHECK(make_communicator()->backend() == "mpi");
}

TEST_CASE("rank and size come from MPI, whatever other launchers left in the environment") {
  const StrayVariables stray;
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const auto comm = make_communicator(kMpi);
  CHECK(comm->rank() == rank);
  CHECK(comm->world_size() == size);
}

TEST_CASE("communicators made twice are used alternately and die in any order") {
  auto first = make_communicator(kMpi);
  const auto second = make_communicator(kMpi);
  const auto ranks = static_cast<float>(first->world_size());
  for (int i = 0; i < 50; ++i) {
    float a = 1, b = 2;
    const Work one = first->all_reduce(std::span(&a, 1), ReduceOp::sum);
    const Work two = second->all_reduce(std::span(&b, 1), ReduceOp::sum);
    two.wait();
    one.wait();
    REQUIRE(a == ranks);
    REQUIRE(b == 2 * ranks);
  }
  first.reset();
  CHECK(sum_of_ones(*second) == ranks);
}

TEST_CASE("a program's own MPI communicator can be wrapped") {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm reversed = MPI_COMM_NULL;
  REQUIRE(MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed) == MPI_SUCCESS);
  {
    const auto comm = wrap_mpi_communicator(reversed);
    CHECK(comm->rank() == comm->world_size() - 1 - rank);
    CHECK(sum_of_ones(*comm) == static_cast<float>(comm->world_size()));
  }
  CHECK(MPI_Comm_free(&reversed) == MPI_SUCCESS);
}

TEST_CASE("a second thread may issue in turn, and any thread may wait") {
  const auto comm = make_communicator(kMpi);
  float mine = 1, theirs = 2;
  const Work first = comm->all_reduce(std::span(&mine, 1), ReduceOp::sum);
  Work second;
  std::thread([&] {
    second = comm->all_reduce(std::span(&theirs, 1), ReduceOp::sum);
    first.wait();
  }).join();
  second.wait();
  CHECK(mine == static_cast<float>(comm->world_size()));
  CHECK(theirs == 2 * static_cast<float>(comm->world_size()));
}

TEST_CASE("work can be waited for after its communicator is gone") {
  float one = 1;
  Work work;
  int ranks = 0;
  {
    const auto comm = make_communicator(kMpi);
    ranks = comm->world_size();
    work = comm->all_reduce(std::span(&one, 1), ReduceOp::sum);
  }
  work.wait();
  CHECK(one == static_cast<float>(ranks));
}

TEST_CASE("an exception on the last rank inside all_or_none is an exception on all") {
  const auto comm = make_communicator(kMpi);
  const int last = comm->world_size() - 1;
  const auto fail_on_last = [&] {
    if (comm->rank() == last) throw DataError("label 11 in a set of 10 classes");
  };
  try {
    all_or_none(*comm, "reading", fail_on_last);
    FAIL("nobody threw");
  } catch (const Error& error) {
    CHECK(error.status() == ExitStatus::data);
    CHECK(error.on_all_ranks());
    CHECK_THAT(error.what(), Catch::Matchers::Contains("label 11"));
  }
  CHECK(sum_of_ones(*comm) == static_cast<float>(comm->world_size()));
}

TEST_CASE("facts that differ are refused with values and ranks") {
  const auto comm = make_communicator(kMpi);
  const std::vector<Fact> facts = {{"batch.global", comm->rank() == 0 ? "512" : "256"}};
  if (comm->world_size() == 1) return require_equal(*comm, "settings", facts);
  try {
    require_equal(*comm, "settings", facts);
    FAIL("different settings were accepted");
  } catch (const CommError& error) {
    CHECK(error.status() == ExitStatus::disagree);
    CHECK_THAT(error.what(), Catch::Matchers::Contains("batch.global is \"512\" on rank 0 and \"256\" on rank"));
  }
}
