#include "support/catch.hpp"
#include "support/comm_conformance.hpp"
#include "support/device_adapter.hpp"
#include "support/nccl_world.hpp"

using namespace ddpkit;
using namespace ddpkit::testing;

// The stand-ins add the 16-bit types in float32, as the claims want; NCCL itself rounds as it adds.
TEST_CASE("nccl keeps every promise of a backend") {
  const int ranks = GENERATE(1, 2, 3, 4);
  for (const ConformanceClaim& claim : conformance_claims()) DYNAMIC_SECTION(claim.claim << " on " << ranks << " ranks") {
      FakeGpu::get().reset();
      FakeGpu::get().behaviour.host_is_stream = true;
      run_ranks(ranks,
                [&](Communicator& comm) {
                  DeviceAdapter adapter(comm, comm.rank());
                  claim.check(adapter);
                },
                {.timeout = std::chrono::seconds(30)});
      CHECK(FakeGpu::get().live == 0);
    }
}
