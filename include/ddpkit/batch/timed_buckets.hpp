#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ddpkit/batch/bucket_cuts.hpp"
#include "ddpkit/batch/step_profile.hpp"

namespace ddpkit {

/// Gradients that travel together, ready with the last of them.
struct TimedBucket {
  std::int64_t bytes = 0;
  double ready_seconds = 0;
};

struct BucketSizes {
  std::int64_t bucket_bytes = 25 << 20;
  std::int64_t tail_bytes = 1 << 20;  ///< of the last one, which no computing hides
};

/// Cuts gradients in the order in which they become ready, as the reducer cuts them: a bucket closes when the next gradient
/// would pass its limit, so that one which is larger has a bucket to itself. Pure.
std::vector<TimedBucket> cut_into_buckets(std::span<const GradientTiming> gradients, const BucketSizes& sizes);

/// Cuts them where the last bucket arrives earliest (cut_by_time). Pure.
std::vector<TimedBucket> cut_by_arrival(std::span<const GradientTiming> gradients, const CutLimits& limits);

}  // namespace ddpkit
