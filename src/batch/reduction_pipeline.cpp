#include "ddpkit/batch/reduction_pipeline.hpp"

#include <algorithm>

namespace ddpkit {
namespace {

// Time, and the computing done by then in seconds of an undisturbed device.
class Clock {
 public:
  explicit Clock(double compute_seconds) : compute_seconds_(compute_seconds) {}

  void pass(double seconds, double slowdown) {
    const double left = compute_seconds_ - computed_;
    if (left > 0 && left * slowdown <= seconds) compute_end_ = now_ + left * slowdown;
    computed_ = std::min(compute_seconds_, computed_ + seconds / slowdown);
    now_ += seconds;
  }

  void wait_until_computed(double seconds) { pass(std::max(0.0, seconds - computed_), 1); }

  double now() const { return now_; }
  double compute_end() const { return compute_end_; }

 private:
  double compute_seconds_;
  double now_ = 0;
  double computed_ = 0;
  double compute_end_ = 0;
};

// Backward cannot have ended before its last gradient, though a clock may say so.
double compute_of(const ReductionPipeline& pipeline) {
  double seconds = pipeline.compute_seconds;
  for (const PipelineBucket& bucket : pipeline.buckets) seconds = std::max(seconds, bucket.ready_seconds);
  return seconds;
}

}  // namespace

PipelineEnd run_pipeline(const ReductionPipeline& pipeline) {
  const double compute_seconds = compute_of(pipeline);
  Clock clock(compute_seconds);
  for (const PipelineBucket& bucket : pipeline.buckets) {
    clock.wait_until_computed(bucket.ready_seconds);
    clock.pass(bucket.cost_seconds, 1 + pipeline.interference);
  }
  const double reduction_end = pipeline.buckets.empty() ? 0 : clock.now();
  clock.wait_until_computed(compute_seconds);
  return {clock.compute_end(), reduction_end};
}

}  // namespace ddpkit
