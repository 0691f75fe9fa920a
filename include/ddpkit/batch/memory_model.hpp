#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ddpkit/batch/batch_profile.hpp"

namespace ddpkit {

/// Peak memory as a function of the micro-batch. The peak is the largest of several phases, each affine in the size, so the
/// curve is convex and piecewise linear: inside it is read off between measurements, beyond them extended by the last segment.
/// Allocators round and choose workspaces, so measured peaks are not quite convex: the model is the largest convex curve that
/// does not fall, below all of them, raised by their mean distance from it.
class MemoryModel {
 public:
  /// From the measurements that have a peak. Without any, the model knows nothing.
  explicit MemoryModel(std::span<const MicroMeasurement> measured);

  /// Whether it can predict sizes that were not measured.
  bool known() const noexcept { return points_.size() >= 2; }

  /// Bytes at `micro`; 0 where nothing is known. A single measurement speaks for its own size and, as a bound, for smaller
  /// ones.
  double peak_bytes(double micro) const;

  /// Largest size predicted to stay within `bytes`; 0 when none does. Unlimited (INT64_MAX) where memory does not grow, or
  /// nothing is known.
  std::int64_t largest_within(double bytes) const;

 private:
  struct Point {
    double micro;
    double bytes;
  };

  static double slope(const Point& left, const Point& right) { return (right.bytes - left.bytes) / (right.micro - left.micro); }

  void add_to_hull(Point point);
  void raise(double factor);

  std::vector<Point> points_;  // corners of the curve
};

}  // namespace ddpkit
