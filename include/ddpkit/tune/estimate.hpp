#pragma once

#include <algorithm>
#include <span>

namespace ddpkit {

/// A number from 0 on that was measured several times.
struct Estimate {
  double value = 0;
  double half_width = 0;  ///< of the 95 % confidence interval, to each side; infinite below two samples

  double low() const noexcept { return std::max(0.0, value - half_width); }  ///< times and rates are not negative
  double high() const noexcept { return value + half_width; }
};

/// The median with an interval from the quartiles, so that single windows that something else held up do not count. The half
/// width is 1.2533 sigma t / sqrt(n) with sigma = interquartile range / (1.349 (1 - 1.33 / n)) and Student's t for n - 1, as
/// for samples of a normal distribution, from six on. Pure. Zero for no samples.
Estimate estimate(std::span<const double> samples);

}  // namespace ddpkit
