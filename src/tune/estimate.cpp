#include "ddpkit/tune/estimate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace ddpkit {
namespace {

/// Between neighbours by a line.
double quantile(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], place - static_cast<double>(below));
}

/// Student's t at 97.5 %: the Cornish-Fisher expansion around the normal quantile (Abramowitz and Stegun 26.7.5).
double student_t(double freedom) {
  return 1.960 + 2.372 / freedom + 2.822 / std::pow(freedom, 2) + 2.556 / std::pow(freedom, 3);
}

}  // namespace

Estimate estimate(std::span<const double> samples) {
  if (samples.empty()) return {};
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  const double median = quantile(sorted, 0.5);
  if (sorted.size() < 2) return {median, std::numeric_limits<double>::infinity()};
  const auto count = static_cast<double>(sorted.size());
  const double range = quantile(sorted, 0.75) - quantile(sorted, 0.25);
  const double sigma = range / (1.349 * (1 - 1.33 / count));  // few samples show less than the whole range
  return {median, 1.2533 * sigma * student_t(count - 1) / std::sqrt(count)};
}

}  // namespace ddpkit
