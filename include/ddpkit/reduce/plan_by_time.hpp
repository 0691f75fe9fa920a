#pragma once

#include <optional>
#include <span>

#include "ddpkit/batch/bucket_cuts.hpp"
#include "ddpkit/reduce/bucket_plan.hpp"

namespace ddpkit {

/// What was measured of a run's gradients.
struct MeasuredGradients {
  std::span<const GradientSpec> gradients;
  /// When each became ready, from any origin that all share; none for one that no backward made.
  std::span<const std::optional<double>> ready_seconds;
  CutLimits limits;
};

/// When the last bucket of the plan arrives, by the pipeline model. Gradients that no backward makes are ready at its end.
/// Pure.
double predicted_end(const BucketPlan& plan, const MeasuredGradients& measured);

/// The plan whose last bucket arrives earliest by that model, among those whose buckets are cut from the gradients in the order
/// in which they became ready; `present` where none of them beats it. Pure, O(n^2).
BucketPlan plan_buckets_by_time(const MeasuredGradients& measured, const BucketPlan& present);

}  // namespace ddpkit
