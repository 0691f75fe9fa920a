#include "ddpkit/batch/normal_maximum.hpp"

#include <cmath>
#include <numbers>

namespace ddpkit {
namespace {

/// 1 - F(x)^n - F(-x)^n, for x above 0 and accurate where F(x) is nearly 1.
double integrand(double x, double count) {
  const double upper_tail = 0.5 * std::erfc(x / std::numbers::sqrt2);
  return -std::expm1(count * std::log1p(-upper_tail)) - std::pow(upper_tail, count);
}

}  // namespace

double expected_normal_maximum(std::int64_t count) {
  if (count == 1) return 0;
  constexpr double kEnd = 12;  // beyond which a draw is less likely than 1e-32
  constexpr int kStrips = 1200;
  constexpr double kWidth = kEnd / kStrips;
  const auto draws = static_cast<double>(count);
  double sum = integrand(0, draws) + integrand(kEnd, draws);
  for (int i = 1; i < kStrips; ++i) sum += (i % 2 == 0 ? 2 : 4) * integrand(i * kWidth, draws);
  return sum * kWidth / 3;
}

}  // namespace ddpkit
