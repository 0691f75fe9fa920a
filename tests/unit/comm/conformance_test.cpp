#include "ddpkit/comm/make_communicator.hpp"
#include "ddpkit/testing/thread_world.hpp"
#include "support/catch.hpp"
#include "support/comm_conformance.hpp"

using namespace ddpkit;
using namespace ddpkit::testing;

TEST_CASE("thread_world keeps every promise of a communicator") {
  const int ranks = GENERATE(1, 2, 3, 4);
  for (const ConformanceClaim& claim : conformance_claims()) DYNAMIC_SECTION(claim.claim << " on " << ranks << " ranks") {
      CHECK_NOTHROW(run_ranks(ranks, claim.check));
    }
}

TEST_CASE("local keeps every promise of a communicator") {
  const auto comm = make_communicator({.backend = Backend::local});
  REQUIRE(comm->backend() == "local");
  for (const ConformanceClaim& claim : conformance_claims()) DYNAMIC_SECTION(claim.claim) {
      CHECK_NOTHROW(claim.check(*comm));
    }
}
