#include "ddpkit/comm/make_communicator.hpp"
#include "support/catch.hpp"
#include "support/comm_conformance.hpp"

using namespace ddpkit;
using namespace ddpkit::testing;

namespace {

constexpr std::chrono::seconds kPatience{20};

void require_every_promise(const CommOptions& options) {
  const auto comm = make_communicator(options);
  REQUIRE(comm->backend() == "mpi");
  for (const ConformanceClaim& claim : conformance_claims()) DYNAMIC_SECTION(claim.claim) {
      CHECK_NOTHROW(claim.check(*comm));
    }
}

}  // namespace

// mpi_main has initialised MPI: this also is the program that brought its own.
TEST_CASE("mpi keeps every promise of a communicator") {
  require_every_promise({.backend = Backend::mpi, .timeout = kPatience});
}

TEST_CASE("mpi keeps every promise when counts are above the chunk limit") {
  require_every_promise({.backend = Backend::mpi, .timeout = kPatience, .chunk_elements = 60});
}

TEST_CASE("mpi keeps every promise whoever does the work in shared memory") {
  const NodeProgress progress = GENERATE(NodeProgress::eager, NodeProgress::thread);
  require_every_promise({.backend = Backend::mpi, .timeout = kPatience, .progress = progress});
}

// Three ranks make a node of two and one of one.
TEST_CASE("mpi keeps every promise between nodes, also with unequal numbers of ranks on them") {
  const int ranks_per_node = GENERATE(1, 2);
  require_every_promise({.backend = Backend::mpi, .timeout = kPatience, .ranks_per_node = ranks_per_node});
}
