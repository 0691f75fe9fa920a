#pragma once

#include <cstdint>

namespace ddpkit {

/// What a loader has done so far.
struct LoaderStats {
  double wait_seconds = 0;          ///< time that the consumer spent in fetch, waiting for data or gathering it itself
  std::int64_t gathered_ahead = 0;  ///< micro-batches given out that a background thread had begun before they were asked for
  std::int64_t gathered_on_demand = 0;  ///< micro-batches gathered on the consumer's thread
  std::int64_t allocations = 0;         ///< blocks of batch memory taken from the system; stands still in the steady state
};

}  // namespace ddpkit
