#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ddpkit/batch/batch_plan.hpp"

namespace ddpkit {

/// The training loss of a short run at every step, beginning with the first.
struct LossCurve {
  int ranks = 1;
  BatchPlan plan{};
  std::vector<double> losses{};         ///< NaN where it was not finite
  std::vector<std::int64_t> samples{};  ///< used up to and with each step

  /// "2 ranks x 64 x accumulate 2".
  std::string name() const;
};

/// How far two curves are apart, as parts of the loss (of a thousandth of the first loss where it has become smaller than
/// that).
struct CurveDifference {
  double first = 0;     ///< at the first step, before any update
  double largest = 0;   ///< over all steps that both have
  std::int64_t at = 0;  ///< the step with the largest, counted from 1; 0: the curves have no step in common
};

/// By step; NaN where either loss is. Pure.
std::vector<double> relative_differences(const LossCurve& reference, const LossCurve& other);

CurveDifference difference_of(const LossCurve& reference, const LossCurve& other);

/// Standard deviation of a curve's steps around their trend: sqrt(variance of the differences between neighbours / 2), as for
/// independent deviations. 0 below three steps. Pure.
double scatter_of(const LossCurve& curve);

}  // namespace ddpkit
