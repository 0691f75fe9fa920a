#pragma once

#include <cstdint>
#include <string>

#include "ddpkit/batch/batch_options.hpp"

namespace ddpkit {

/// A global batch and how it is made: global = micro x accumulate x world size.
struct BatchPlan {
  std::int64_t global = 0;
  std::int64_t micro = 0;
  std::int64_t accumulate = 0;

  /// Of a plan that was solved for: the factor that is left.
  std::int64_t world_size() const noexcept { return global / (micro * accumulate); }

  friend bool operator==(const BatchPlan&, const BatchPlan&) = default;
};

/// Fills in what the options leave open: the best of `legal_plans`. Pure. With micro, accumulate and max_micro open there is no
/// accumulation. Throws ConfigError, naming the nearest plans that work and what each costs, when no whole numbers make the
/// product.
BatchPlan solve_batch(const BatchOptions& options, std::int64_t world_size);

/// "global batch 512 = micro 64 x accumulate 1 x 8 ranks".
std::string plan_text(const BatchPlan& plan);

/// What became of a run's batch on another number of ranks: "global batch 512 as before; micro 128 -> 64, accumulate 2 as
/// before".
std::string what_moved(const BatchPlan& before, const BatchPlan& after);

}  // namespace ddpkit
