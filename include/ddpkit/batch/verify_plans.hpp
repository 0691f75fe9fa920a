#pragma once

#include <span>
#include <vector>

#include "ddpkit/batch/batch_plan.hpp"

namespace ddpkit {

/// A plan on so many ranks.
struct RankedPlan {
  int ranks = 1;
  BatchPlan plan{};
  friend bool operator==(const RankedPlan&, const RankedPlan&) = default;
};

/// Equal micro-batch and accumulation on every number of ranks, those of the run on the most. Pure. `ranks` rise. Throws
/// ConfigError when the run has no plan there.
std::vector<RankedPlan> scaling_plans(const BatchOptions& options, std::span<const int> ranks);

/// Ways to make the run's global batch: on the fewest ranks with the run's micro-batch, a half and a quarter of it, where whole
/// numbers allow, then one way on each other number of ranks. No micro-batch exceeds the one that is set. Numbers of ranks
/// that do not divide the global batch are passed over; the list may be short or empty. Pure. `ranks` rise.
std::vector<RankedPlan> equivalent_plans(const BatchOptions& options, std::span<const int> ranks);

}  // namespace ddpkit
