#include "ddpkit/reduce/plan_by_time.hpp"

#include <algorithm>
#include <numeric>

#include "ddpkit/batch/reduction_pipeline.hpp"

namespace ddpkit {
namespace {

/// By gradient; what never came counts as ready last.
std::vector<double> ready_times(const MeasuredGradients& measured) {
  double last = 0;
  for (const auto& ready : measured.ready_seconds) last = std::max(last, ready.value_or(0));
  std::vector<double> times;
  for (const auto& ready : measured.ready_seconds) times.push_back(ready.value_or(last));
  return times;
}

/// The numbers of the gradients as they became ready; what never came last, and ties as backward usually goes.
std::vector<std::size_t> order_of_readiness(const MeasuredGradients& measured, const std::vector<double>& times) {
  std::vector<std::size_t> order(times.size());
  std::iota(order.rbegin(), order.rend(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const bool a_came = measured.ready_seconds[a].has_value(), b_came = measured.ready_seconds[b].has_value();
    return a_came != b_came ? a_came : times[a] < times[b];
  });
  return order;
}

}  // namespace

double predicted_end(const BucketPlan& plan, const MeasuredGradients& measured) {
  const std::vector<double> times = ready_times(measured);
  std::vector<PipelineBucket> buckets;
  for (const Bucket& bucket : plan.buckets) {
    double ready = 0;
    for (const BucketSlot& slot : bucket.slots) ready = std::max(ready, times[slot.parameter]);
    buckets.push_back({ready, measured.limits.cost.of(static_cast<double>(bucket.bytes()))});
  }
  return run_pipeline({.buckets = buckets}).reduction_seconds;
}

BucketPlan plan_buckets_by_time(const MeasuredGradients& measured, const BucketPlan& present) {
  const std::vector<double> times = ready_times(measured);
  const std::vector<std::size_t> order = order_of_readiness(measured, times);
  std::vector<ReadyGradient> gradients;
  for (const std::size_t number : order) {
    const GradientSpec& gradient = measured.gradients[number];
    gradients.push_back({times[number], slot_bytes(gradient), static_cast<int>(gradient.dtype)});
  }
  BucketPlan plan;
  std::size_t begin = 0;
  for (const std::size_t end : cut_by_time(gradients, measured.limits)) {
    plan.buckets.push_back(make_bucket(measured.gradients, std::span(order).subspan(begin, end - begin)));
    begin = end;
  }
  return predicted_end(plan, measured) < predicted_end(present, measured) ? plan : present;
}

}  // namespace ddpkit
