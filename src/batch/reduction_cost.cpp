#include "ddpkit/batch/reduction_cost.hpp"

#include <algorithm>

namespace ddpkit {
namespace {

/// Least squares of (start + bytes x slope) / seconds against 1: sums over the points, each weighing 1 / seconds^2.
struct Sums {
  double ones = 0, bytes = 0, squares = 0;  // of the unknowns with each other
  double start_target = 0, slope_target = 0;

  void add(const TimedReduction& point) {
    const double start = 1 / point.seconds, slope = point.bytes / point.seconds;
    ones += start * start;
    bytes += start * slope;
    squares += slope * slope;
    start_target += start;
    slope_target += slope;
  }
};

ReductionCost constant(const Sums& sums) {
  return {.start_seconds = sums.start_target / sums.ones};
}

ReductionCost through_origin(const Sums& sums) {
  return {.seconds_per_byte = sums.slope_target / sums.squares};
}

}  // namespace

ReductionCost fit_reduction_cost(std::span<const TimedReduction> points) {
  Sums sums;
  for (const TimedReduction& point : points) sums.add(point);
  if (sums.squares == 0) return points.empty() ? ReductionCost{} : constant(sums);
  const auto by_bytes = [](const TimedReduction& a, const TimedReduction& b) { return a.bytes < b.bytes; };
  const auto [least, most] = std::minmax_element(points.begin(), points.end(), by_bytes);
  if (least->bytes == most->bytes) return through_origin(sums);
  const double determinant = sums.ones * sums.squares - sums.bytes * sums.bytes;
  const ReductionCost line{.start_seconds = (sums.start_target * sums.squares - sums.slope_target * sums.bytes) / determinant,
                           .seconds_per_byte = (sums.slope_target * sums.ones - sums.start_target * sums.bytes) / determinant};
  if (line.start_seconds < 0) return through_origin(sums);
  if (line.seconds_per_byte < 0) return constant(sums);
  return line;
}

}  // namespace ddpkit
