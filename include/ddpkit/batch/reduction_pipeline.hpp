#pragma once

#include <span>

namespace ddpkit {

/// A bucket on its way: when its last gradient is ready, and how long the link takes for it.
struct PipelineBucket {
  double ready_seconds = 0;  ///< of computing, from any origin that all buckets share
  double cost_seconds = 0;
};

/// One backward, whose buckets go over one link, one after the other in their order.
struct ReductionPipeline {
  std::span<const PipelineBucket> buckets;
  double compute_seconds = 0;  ///< the end of backward, from the same origin
  double interference = 0;     ///< while a bucket travels, computing takes (1 + interference) times as long
};

struct PipelineEnd {
  double compute_seconds = 0;    ///< when backward ended, slowed by what travelled meanwhile
  double reduction_seconds = 0;  ///< when the last bucket had arrived; 0 where there is none

  double seconds() const noexcept { return compute_seconds > reduction_seconds ? compute_seconds : reduction_seconds; }
};

/// Without interference: e_i = max(r_i, e_{i-1}) + c_i, and the end is max(compute, e_last). A bucket waits for those before
/// it, also where it is ready earlier. Pure; O(buckets).
PipelineEnd run_pipeline(const ReductionPipeline& pipeline);

}  // namespace ddpkit
