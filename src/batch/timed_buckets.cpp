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

}  // namespace

std::vector<TimedBucket> cut_into_buckets(std::span<const GradientTiming> gradients, const BucketSizes& sizes) {
  std::vector<TimedBucket> buckets;
  const std::size_t tail = tail_begin(gradients, sizes.tail_bytes);
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    const bool full = !buckets.empty() && buckets.back().bytes + gradients[i].bytes > sizes.bucket_bytes;
    if (buckets.empty() || i == tail || full) buckets.emplace_back();
    buckets.back().bytes += gradients[i].bytes;
    buckets.back().ready_seconds = std::max(buckets.back().ready_seconds, gradients[i].ready_seconds);
  }
  return buckets;
}

}  // namespace ddpkit
