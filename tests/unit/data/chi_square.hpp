#pragma once

#include <cmath>
#include <cstdint>
#include <span>

/// How many standard deviations the chi-square statistic of `counts` against the uniform distribution lies above its mean
/// (Wilson and Hilferty 1931). Over 5 is one in three million.
inline double chi_square_sigmas(std::span<const std::int64_t> counts, double freedom) {
  double total = 0;
  for (const std::int64_t count : counts) total += static_cast<double>(count);
  const double expected = total / static_cast<double>(counts.size());
  double chi = 0;
  for (const std::int64_t count : counts) chi += std::pow(static_cast<double>(count) - expected, 2) / expected;
  const double spread = 2 / (9 * freedom);
  return (std::cbrt(chi / freedom) - (1 - spread)) / std::sqrt(spread);
}
