#include "ddpkit/batch/bucket_cuts.hpp"

#include <algorithm>
#include <limits>

#include "ddpkit/batch/reduction_pipeline.hpp"

namespace ddpkit {
namespace {

/// The best way to send the first so many gradients.
struct Best {
  double end = std::numeric_limits<double>::infinity();
  std::size_t buckets = 0;
  std::size_t begin = 0;  // of the last bucket

  bool beats(const Best& other) const { return end != other.end ? end < other.end : buckets < other.buckets; }
};

/// When gradient i and all before it are ready.
std::vector<double> ready_by(std::span<const ReadyGradient> gradients) {
  std::vector<double> ready;
  for (const ReadyGradient& gradient : gradients)
    ready.push_back(std::max(gradient.ready_seconds, ready.empty() ? 0.0 : ready.back()));
  return ready;
}

BucketCuts cuts_of(const std::vector<Best>& best) {
  BucketCuts cuts;
  for (std::size_t end = best.size() - 1; end > 0; end = best[end].begin) cuts.push_back(end);
  std::reverse(cuts.begin(), cuts.end());
  return cuts;
}

}  // namespace

BucketCuts cut_by_time(std::span<const ReadyGradient> gradients, const CutLimits& limits) {
  const std::vector<double> ready = ready_by(gradients);
  std::vector<Best> best(gradients.size() + 1);
  best[0].end = 0;
  for (std::size_t end = 1; end < best.size(); ++end) {
    std::size_t bytes = 0;
    for (std::size_t begin = end; begin-- > 0;) {
      bytes += gradients[begin].bytes;
      const bool fits = begin + 1 == end || bytes <= limits.bucket_bytes;
      if (!fits || gradients[begin].kind != gradients[end - 1].kind) break;
      const double start = std::max(ready[end - 1], best[begin].end);
      const Best with{start + limits.cost.of(static_cast<double>(bytes)), best[begin].buckets + 1, begin};
      if (with.beats(best[end])) best[end] = with;
    }
  }
  return cuts_of(best);
}

double end_of_reduction(std::span<const ReadyGradient> gradients, std::span<const std::size_t> cuts,
                        const ReductionCost& cost) {
  std::vector<PipelineBucket> buckets;
  std::size_t begin = 0;
  for (const std::size_t end : cuts) {
    double ready = 0, bytes = 0;
    for (const ReadyGradient& gradient : gradients.subspan(begin, end - begin)) {
      ready = std::max(ready, gradient.ready_seconds);
      bytes += static_cast<double>(gradient.bytes);
    }
    buckets.push_back({ready, cost.of(bytes)});
    begin = end;
  }
  return run_pipeline({.buckets = buckets}).reduction_seconds;
}

}  // namespace ddpkit
