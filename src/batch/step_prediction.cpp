#include "ddpkit/batch/step_prediction.hpp"

#include <algorithm>
#include <set>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/batch/normal_maximum.hpp"
#include "ddpkit/batch/reduction_pipeline.hpp"

namespace ddpkit {
namespace {

double slowest_of(const PredictionRequest& request, std::int64_t ranks) {
  return 1 + request.cluster.jitter.value_or(request.profile.jitter) * expected_normal_maximum(ranks);
}

/// What a run would find by timing reductions of several sizes.
ReductionCost line_through_costs(const PredictionRequest& request, const Layout& layout, const Fabric& fabric) {
  constexpr double kSmallest = 1024;
  std::vector<TimedReduction> points;
  for (double bytes = kSmallest; bytes <= static_cast<double>(request.sizes.bucket_bytes); bytes *= 4)
    points.push_back({bytes, all_reduce_seconds(request.cluster.all_reduce, bytes, layout, fabric)});
  return fit_reduction_cost(points);
}

std::vector<TimedBucket> buckets_of(const PredictionRequest& request, const Layout& layout, const Fabric& fabric) {
  if (request.cutting == Cutting::by_size || layout.ranks() == 1)
    return cut_into_buckets(request.profile.gradients, request.sizes);
  return cut_by_arrival(request.profile.gradients, {.cost = line_through_costs(request, layout, fabric),
                                                    .bucket_bytes = static_cast<std::size_t>(request.sizes.bucket_bytes)});
}

std::int64_t largest_of(const std::vector<TimedBucket>& buckets) {
  std::int64_t largest = 0;
  for (const TimedBucket& bucket : buckets) largest = std::max(largest, bucket.bytes);
  return largest;
}

PredictedStep predict_all(const PredictionRequest& request, std::int64_t ranks) {
  const Layout layout = layout_of(request.cluster, ranks);
  const AllReduce given = request.cluster.all_reduce;
  const Fabric fabric = fabric_of(request.cluster, LinkEfficiency::likely);
  const std::vector<TimedBucket> buckets = buckets_of(request, layout, fabric);
  const auto largest = static_cast<double>(largest_of(buckets));
  return {.ranks = ranks,
          .nodes = layout.nodes,
          .buckets = buckets.size(),
          .all_reduce = given == AllReduce::automatic ? fastest_all_reduce(largest, layout, fabric) : given,
          .likely = predict_step(request, ranks, LinkEfficiency::likely),
          .slow_link = predict_step(request, ranks, LinkEfficiency::low),
          .fast_link = predict_step(request, ranks, LinkEfficiency::high)};
}

/// 1, 2, 4 ... in a node, whole nodes from there on, and all of them.
std::vector<std::int64_t> default_ranks(const Cluster& cluster) {
  std::set<std::int64_t> ranks{1, cluster.ranks_per_node, cluster.ranks()};
  for (std::int64_t n = 1; n < cluster.ranks_per_node; n *= 2) ranks.insert(n);
  for (std::int64_t nodes = 1; nodes < cluster.nodes; nodes *= 2) ranks.insert(nodes * cluster.ranks_per_node);
  return {ranks.begin(), ranks.end()};
}

const StepParts& parts_of(const PredictedStep& step, LinkEfficiency link) {
  if (link == LinkEfficiency::low) return step.slow_link;
  return link == LinkEfficiency::high ? step.fast_link : step.likely;
}

}  // namespace

StepParts predict_step(const PredictionRequest& request, std::int64_t ranks, LinkEfficiency efficiency) {
  const StepProfile& profile = request.profile;
  const Layout layout = layout_of(request.cluster, ranks);
  const Fabric fabric = fabric_of(request.cluster, efficiency);
  const double slowest = slowest_of(request, ranks);
  std::vector<PipelineBucket> buckets;
  if (ranks > 1)
    for (const TimedBucket& bucket : buckets_of(request, layout, fabric))
      buckets.push_back({bucket.ready_seconds * slowest,
                         all_reduce_seconds(request.cluster.all_reduce, static_cast<double>(bucket.bytes), layout, fabric)});
  const double backward = profile.backward_seconds * slowest;
  const PipelineEnd end =
      run_pipeline({.buckets = buckets, .compute_seconds = backward, .interference = request.cluster.interference});
  const double compute = profile.compute_seconds();
  return {.compute_seconds = compute,
          .straggler_seconds = compute * (slowest - 1),
          .exposed_seconds = std::max(0.0, end.seconds() - backward)};
}

Prediction predict(const PredictionRequest& request) {
  Prediction prediction{.request = request, .baseline = predict_all(request, request.baseline), .steps = {}};
  if (prediction.request.ranks.empty()) prediction.request.ranks = default_ranks(request.cluster);
  for (const std::int64_t ranks : prediction.request.ranks) prediction.steps.push_back(predict_all(request, ranks));
  return prediction;
}

double efficiency(const Prediction& prediction, const PredictedStep& step, LinkEfficiency link) {
  return parts_of(prediction.baseline, link).seconds() / parts_of(step, link).seconds();
}

double efficiency(const Prediction& prediction, const PredictedStep& step) {
  return efficiency(prediction, step, LinkEfficiency::likely);
}

double speed_up(const Prediction& prediction, const PredictedStep& step) {
  return efficiency(prediction, step) * static_cast<double>(step.ranks) / static_cast<double>(prediction.baseline.ranks);
}

}  // namespace ddpkit
