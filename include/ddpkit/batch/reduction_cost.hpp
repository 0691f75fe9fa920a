#pragma once

#include <span>

namespace ddpkit {

/// What the reduction of one bucket takes: c(S) = start + S x per byte.
struct ReductionCost {
  double start_seconds = 0;
  double seconds_per_byte = 0;

  double of(double bytes) const noexcept { return start_seconds + bytes * seconds_per_byte; }
};

/// A reduction that was timed.
struct TimedReduction {
  double bytes = 0;
  double seconds = 0;  ///< above 0
};

/// The line that fits the points best in relative terms, neither part below 0. One size gives a line through the origin, no
/// point a cost of 0. Pure.
ReductionCost fit_reduction_cost(std::span<const TimedReduction> points);

}  // namespace ddpkit
