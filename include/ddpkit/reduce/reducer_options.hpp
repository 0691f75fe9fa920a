#pragma once

#include <array>
#include <cstdint>

#include "ddpkit/base/fields.hpp"

namespace ddpkit {

/// When reductions start; who then works on them, and when, is for the communicator to say. Makes no difference to any bit.
enum class Overlap {
  on,   ///< while backward runs, bucket by bucket: costs nothing by itself
  off,  ///< after backward
};

constexpr auto enum_names(Overlap) {
  return std::to_array<std::pair<Overlap, std::string_view>>({{Overlap::on, "on"}, {Overlap::off, "off"}});
}

/// What happens when a parameter got no gradient on any rank in a window.
enum class Unused {
  skip,   ///< it is not updated; said once
  error,  ///< UsageError on all ranks that names it
};

constexpr auto enum_names(Unused) {
  return std::to_array<std::pair<Unused, std::string_view>>({{Unused::skip, "skip"}, {Unused::error, "error"}});
}

/// Where the gradients of a window are when it is finished.
enum class Delivery {
  reduced,  ///< every rank has the mean over ranks
  as_is,    ///< every rank's buckets are as it filled them, for whoever reduces them where they lie
};

/// As what gradients travel.
enum class BucketType {
  gradient,  ///< their own type
  bfloat16,  ///< float32 and float64 rounded to it: half or a quarter of the bytes
};

constexpr auto enum_names(BucketType) {
  return std::to_array<std::pair<BucketType, std::string_view>>(
      {{BucketType::gradient, "gradient"}, {BucketType::bfloat16, "bfloat16"}});
}

/// Where buckets end.
enum class PlanBy {
  size,      ///< where they are full
  measured,  ///< where the last one arrives earliest, by what the first windows of the run took
};

constexpr auto enum_names(PlanBy) {
  return std::to_array<std::pair<PlanBy, std::string_view>>({{PlanBy::size, "size"}, {PlanBy::measured, "measured"}});
}

struct ReducerOptions {
  std::int64_t bucket_mib = 25;  ///< gradients reduced together, at most
  std::int64_t tail_kib = 1024;  ///< the last bucket, whose reduction nothing hides
  BucketType bucket_dtype = BucketType::gradient;
  Overlap overlap = Overlap::on;
  Unused unused = Unused::skip;
  Delivery deliver = Delivery::reduced;  ///< follows from the optimizer, so it is not in the run file
  PlanBy plan = PlanBy::size;
  std::int64_t plan_windows = 20;  ///< measured for it, and as many after it, to tell the gain
};

template <class Visitor>
void visit_fields(Visitor& visit, ReducerOptions& options) {
  visit("bucket_mib", options.bucket_mib, "MiB of gradients that are reduced together", between(1, 1 << 20));
  visit("tail_kib", options.tail_kib, "KiB of the last bucket, whose reduction no computation hides", between(1, 1 << 30));
  visit("bucket_dtype", options.bucket_dtype,
        "as what gradients travel: their own type, or rounded to bfloat16, which halves the bytes of float32; for slow links");
  visit("overlap", options.overlap, "start to reduce while backward runs, or after it; who does the work is comm.progress");
  visit("unused", options.unused, "a parameter without gradient on any rank: skip it, or end with an error that names it");
  visit("plan", options.plan, "where buckets end: when they are full, or where the first windows, measured, say");
  visit("plan_windows", options.plan_windows, "windows that plan: measured looks at before it decides", between(3, 10'000));
}

}  // namespace ddpkit
