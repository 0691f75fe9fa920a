#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ddpkit/base/dtype.hpp"

namespace ddpkit {

/// What the plan needs to know of a gradient.
struct GradientSpec {
  std::string name;
  std::int64_t elements = 0;
  DType dtype = DType::float32;
};

/// A gradient's place in its bucket.
struct BucketSlot {
  std::size_t parameter = 0;  ///< index into the list of gradients
  std::int64_t offset = 0;    ///< in elements, a multiple of 64 bytes

  friend bool operator==(const BucketSlot&, const BucketSlot&) = default;
};

/// Gradients that are reduced together: one type.
struct Bucket {
  DType dtype = DType::float32;
  std::int64_t elements = 0;  ///< with the gaps between slots
  std::vector<BucketSlot> slots;

  std::size_t bytes() const noexcept { return static_cast<std::size_t>(elements) * size_of(dtype); }
  friend bool operator==(const Bucket&, const Bucket&) = default;
};

/// All buckets, in the order in which they are sent.
struct BucketPlan {
  std::vector<Bucket> buckets;
  friend bool operator==(const BucketPlan&, const BucketPlan&) = default;
};

struct BucketLimits {
  std::size_t bucket_bytes = 25 << 20;
  std::size_t tail_bytes = 1 << 20;  ///< of the last bucket of each type, whose reduction no computation hides
};

/// Cuts gradients into buckets. Pure. They go in reverse order of the parameters, which is about the order in which backward
/// makes them; a bucket closes when the next gradient of its type would pass its limit, so one that is larger than the limit
/// has a bucket to itself. Buckets are ordered by their last gradient, the moment at which they can be sent.
BucketPlan plan_buckets(std::span<const GradientSpec> gradients, const BucketLimits& limits);

/// What a gradient takes of a bucket. Pure.
std::size_t slot_bytes(const GradientSpec& gradient);

/// One bucket of the gradients with these numbers, in this order: at least one, all of one type. Pure.
Bucket make_bucket(std::span<const GradientSpec> gradients, std::span<const std::size_t> numbers);

/// The gradients of each bucket by number, "5,4;3,2,1,0", and the plan that it says. Nothing when it does not name each of
/// these gradients once, or mixes types in a bucket. Pure.
std::string to_text(const BucketPlan& plan);
std::optional<BucketPlan> plan_from_text(std::string_view text, std::span<const GradientSpec> gradients);

}  // namespace ddpkit
