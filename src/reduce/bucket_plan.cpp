#include "ddpkit/reduce/bucket_plan.hpp"

#include <algorithm>

namespace ddpkit {
namespace {

constexpr std::size_t kSlotAlignment = 64;  // a cache line, and the width of the widest vector

std::int64_t aligned_elements(const GradientSpec& gradient) {
  const auto unit = static_cast<std::int64_t>(kSlotAlignment / size_of(gradient.dtype));
  return (gradient.elements + unit - 1) / unit * unit;
}

/// Index of the first gradient, counted from the front, that is not in its type's tail bucket.
std::size_t tail_end(std::span<const GradientSpec> gradients, DType dtype, std::size_t tail_bytes) {
  std::size_t bytes = 0;
  bool empty = true;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (gradients[i].dtype != dtype) continue;
    bytes += slot_bytes(gradients[i]);
    if (!empty && bytes > tail_bytes) return i;
    empty = false;
  }
  return gradients.size();
}

void append(Bucket& bucket, std::size_t parameter, const GradientSpec& gradient) {
  bucket.slots.push_back({parameter, bucket.elements});
  bucket.elements += aligned_elements(gradient);
}

/// The buckets of one type, each full before the next begins.
std::vector<Bucket> cut(std::span<const GradientSpec> gradients, DType dtype, const BucketLimits& limits) {
  const std::size_t first_outside_tail = tail_end(gradients, dtype, limits.tail_bytes);
  std::vector<Bucket> buckets;
  for (std::size_t i = gradients.size(); i-- > 0;) {
    if (gradients[i].dtype != dtype) continue;
    const bool tail_begins =
        !buckets.empty() && i < first_outside_tail && buckets.back().slots.back().parameter >= first_outside_tail;
    const bool full = !buckets.empty() && buckets.back().bytes() + slot_bytes(gradients[i]) > limits.bucket_bytes;
    if (buckets.empty() || tail_begins || full) buckets.push_back({.dtype = dtype});
    append(buckets.back(), i, gradients[i]);
  }
  return buckets;
}

}  // namespace

std::size_t slot_bytes(const GradientSpec& gradient) {
  return static_cast<std::size_t>(aligned_elements(gradient)) * size_of(gradient.dtype);
}

Bucket make_bucket(std::span<const GradientSpec> gradients, std::span<const std::size_t> numbers) {
  Bucket bucket{.dtype = gradients[numbers.front()].dtype};
  for (const std::size_t number : numbers) append(bucket, number, gradients[number]);
  return bucket;
}

BucketPlan plan_buckets(std::span<const GradientSpec> gradients, const BucketLimits& limits) {
  BucketPlan plan;
  for (const DType dtype : {DType::float32, DType::float64, DType::float16, DType::bfloat16})
    for (Bucket& bucket : cut(gradients, dtype, limits)) plan.buckets.push_back(std::move(bucket));
  std::stable_sort(plan.buckets.begin(), plan.buckets.end(),
                   [](const Bucket& a, const Bucket& b) { return a.slots.back().parameter > b.slots.back().parameter; });
  return plan;
}

}  // namespace ddpkit
