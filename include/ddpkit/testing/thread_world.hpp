#pragma once

#include <chrono>
#include <functional>

#include "ddpkit/comm/communicator.hpp"

namespace ddpkit::testing {

struct ThreadWorldOptions {
  /// How long a rank waits for the others before the run fails.
  std::chrono::milliseconds timeout = std::chrono::seconds(20);
  /// Ranks that the topology puts on one node; 0 puts all on one.
  int ranks_per_node = 0;
};

/// Runs `body` once per rank, each on a thread of its own, and returns when all have ended. The communicators reduce in rank
/// order, 16-bit floats in float32, so results have the same bits in every run.
///
/// What is thrown first is rethrown; from then on the other ranks get CommError instead of waiting for ever. So they do when
/// ranks issue different operations, when a rank returns while others wait for it, and past the timeout.
///
/// Everything process-wide is shared between these ranks: not for tests that lean on LibTorch's generator or allocator.
void run_ranks(int ranks, const std::function<void(Communicator&)>& body, const ThreadWorldOptions& options = {});

}  // namespace ddpkit::testing
