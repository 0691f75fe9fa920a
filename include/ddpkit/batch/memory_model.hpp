#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ddpkit/batch/batch_profile.hpp"

namespace ddpkit {

/// Peak memory as a function of the micro-batch. The peak is the largest of several phases, each affine in the size, so the
/// curve is convex and piecewise linear: inside it is read off between measurements, beyond them extended by the last segment.
class MemoryModel {
 public:
  /// From the measurements that have a peak. Without any, the model knows nothing.
  explicit MemoryModel(std::span<const MicroMeasurement> measured);

  bool known() const noexcept { return points_.size() >= 2; }

  /// Bytes at `micro`; 0 where nothing is known.
  double peak_bytes(double micro) const;

  /// Largest size predicted to stay within `bytes`; 0 when none does. Unlimited (INT64_MAX) where memory does not grow.
  std::int64_t largest_within(double bytes) const;

 private:
  struct Point {
    double micro;
    double bytes;
  };
  std::vector<Point> points_;
};

}  // namespace ddpkit
