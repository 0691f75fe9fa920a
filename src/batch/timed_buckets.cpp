#include "ddpkit/batch/timed_buckets.hpp"

#include <algorithm>

namespace ddpkit {
namespace {

/// Index of the first gradient of the last bucket.
std::size_t tail_begin(std::span<const GradientTiming> gradients, std::int64_t tail_bytes) {
  std::size_t begin = gradients.size();
  std::int64_t bytes = 0;
  while (begin > 0) {
    bytes += gradients[begin - 1].bytes;
    if (bytes > tail_bytes && begin < gradients.size()) break;
    --begin;
  }
  return begin;
}

void put(const GradientTiming& gradient, TimedBucket& bucket) {
  bucket.bytes += gradient.bytes;
  bucket.ready_seconds = std::max(bucket.ready_seconds, gradient.ready_seconds);
}

}  // namespace

std::vector<TimedBucket> cut_into_buckets(std::span<const GradientTiming> gradients, const BucketSizes& sizes) {
  std::vector<TimedBucket> buckets;
  const std::size_t tail = tail_begin(gradients, sizes.tail_bytes);
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    const bool full = !buckets.empty() && buckets.back().bytes + gradients[i].bytes > sizes.bucket_bytes;
    if (buckets.empty() || i == tail || full) buckets.emplace_back();
    put(gradients[i], buckets.back());
  }
  return buckets;
}

std::vector<TimedBucket> cut_by_arrival(std::span<const GradientTiming> gradients, const CutLimits& limits) {
  std::vector<ReadyGradient> ready;
  for (const GradientTiming& gradient : gradients)
    ready.push_back({gradient.ready_seconds, static_cast<std::size_t>(gradient.bytes)});
  std::vector<TimedBucket> buckets;
  std::size_t next = 0;
  for (const std::size_t end : cut_by_time(ready, limits)) {
    buckets.emplace_back();
    for (; next < end; ++next) put(gradients[next], buckets.back());
  }
  return buckets;
}

}  // namespace ddpkit
