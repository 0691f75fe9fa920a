#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "ddpkit/batch/reduction_cost.hpp"

namespace ddpkit {

/// A gradient that some bucket has to carry.
struct ReadyGradient {
  double ready_seconds = 0;
  std::size_t bytes = 0;
  int kind = 0;  ///< a bucket holds one kind: its type
};

/// Where buckets end: bucket k holds the gradients from cuts[k - 1], or 0, up to and without cuts[k].
using BucketCuts = std::vector<std::size_t>;

struct CutLimits {
  ReductionCost cost;
  std::size_t bucket_bytes = 25 << 20;  ///< of a bucket with more than one gradient
};

/// The contiguous cuts after which the last bucket arrives earliest: e_i = max(r_i, e_{i-1}) + c(S_i), where r_i is when the
/// last gradient of bucket i is ready. Exact, by dynamic programming: the earliest end of the first j gradients needs only the
/// earliest ends of fewer, since an end that comes earlier never makes a later one come later. Of equal ends the one with fewer
/// buckets. Pure; O(n^2). `gradients` come in the order in which they are sent, best that in which they become ready.
BucketCuts cut_by_time(std::span<const ReadyGradient> gradients, const CutLimits& limits);

/// When the last bucket arrives with these cuts, by run_pipeline. 0 without gradients. Pure.
double end_of_reduction(std::span<const ReadyGradient> gradients, std::span<const std::size_t> cuts, const ReductionCost& cost);

}  // namespace ddpkit
