#pragma once

#include <cstddef>
#include <vector>

#include "ddpkit/batch/reduction_cost.hpp"
#include "ddpkit/observe/clock.hpp"
#include "ddpkit/reduce/channels.hpp"

namespace ddpkit {

struct ReductionTrial {
  std::size_t largest_bytes = 25 << 20;
  double patience_seconds = 0.1;  ///< no larger size is tried after one that took longer
  Clock clock{};
};

/// Times sums over all ranks of float32, in memory that the backend reduces fastest: from 16 KiB up in steps of four, the
/// largest last. Of each size the median of five, of the slowest rank. Equal on all ranks. Collective, blocking.
std::vector<TimedReduction> time_reductions(Channels channels, const ReductionTrial& trial = {});

}  // namespace ddpkit
