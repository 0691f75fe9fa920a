#include "ddpkit/batch/loss_curve.hpp"

#include <algorithm>
#include <cmath>

#include "ddpkit/base/figures.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit {
namespace {

constexpr double kSmallestScale = 1e-3;  // of the first loss: near zero, parts of the loss say nothing

bool worse(double difference, double largest) {
  return std::isnan(difference) || difference > largest;
}

}  // namespace

std::string LossCurve::name() const {
  std::string name = text(ranks, ranks == 1 ? " rank x " : " ranks x ", grouped(plan.micro));
  return plan.accumulate == 1 ? name : text(name, " x accumulate ", grouped(plan.accumulate));
}

std::vector<double> relative_differences(const LossCurve& reference, const LossCurve& other) {
  std::vector<double> differences(std::min(reference.losses.size(), other.losses.size()));
  for (std::size_t i = 0; i < differences.size(); ++i) {
    const double a = reference.losses[i], b = other.losses[i];
    const double scale = std::max({std::abs(a), std::abs(b), kSmallestScale * std::abs(reference.losses.front())});
    differences[i] = a == b ? 0 : std::abs(a - b) / scale;
  }
  return differences;
}

CurveDifference difference_of(const LossCurve& reference, const LossCurve& other) {
  const std::vector<double> differences = relative_differences(reference, other);
  CurveDifference all;
  for (std::size_t i = 0; i < differences.size(); ++i) {
    if (i == 0) all.first = differences[i];
    if (i > 0 && !worse(differences[i], all.largest)) continue;
    all.largest = differences[i];
    all.at = static_cast<std::int64_t>(i) + 1;
    if (std::isnan(all.largest)) break;
  }
  return all;
}

double scatter_of(const LossCurve& curve) {
  const std::vector<double>& y = curve.losses;
  if (y.size() < 3) return 0;
  const auto count = static_cast<double>(y.size() - 1);
  const double mean = (y.back() - y.front()) / count;
  double sum = 0;
  for (std::size_t i = 1; i < y.size(); ++i) sum += std::pow(y[i] - y[i - 1] - mean, 2);
  return std::sqrt(sum / (count - 1) / 2);
}

}  // namespace ddpkit
