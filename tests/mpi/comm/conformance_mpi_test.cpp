#include "ddpkit/comm/make_communicator.hpp"
#include "support/catch.hpp"
#include "support/comm_conformance.hpp"

using namespace ddpkit;
using namespace ddpkit::testing;

// mpi_main has initialised MPI: this also is the program that brought its own.
TEST_CASE("mpi keeps every promise of a communicator") {
  const auto comm = make_communicator({.backend = Backend::mpi, .timeout = std::chrono::seconds(20)});
  REQUIRE(comm->backend() == "mpi");
  for (const ConformanceClaim& claim : conformance_claims()) DYNAMIC_SECTION(claim.claim) {
      CHECK_NOTHROW(claim.check(*comm));
    }
}

TEST_CASE("mpi keeps every promise when counts are above the chunk limit") {
  const CommOptions options{.backend = Backend::mpi, .timeout = std::chrono::seconds(20), .chunk_elements = 60};
  const auto comm = make_communicator(options);
  for (const ConformanceClaim& claim : conformance_claims()) DYNAMIC_SECTION(claim.claim) {
      CHECK_NOTHROW(claim.check(*comm));
    }
}
