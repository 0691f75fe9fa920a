#pragma once

#include <cstdint>

#include "ddpkit/batch/batch_options.hpp"

namespace ddpkit {

/// A global batch and how it is made: global = micro x accumulate x world size.
struct BatchPlan {
  std::int64_t global = 0;
  std::int64_t micro = 0;
  std::int64_t accumulate = 0;

  friend bool operator==(const BatchPlan&, const BatchPlan&) = default;
};

/// Fills in what the options leave open. Pure. With both open there is no accumulation. Throws ConfigError, naming the nearest
/// values that work, when no whole numbers make the product.
BatchPlan solve_batch(const BatchOptions& options, std::int64_t world_size);

}  // namespace ddpkit
