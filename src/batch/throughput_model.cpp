#include "ddpkit/batch/throughput_model.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit {
namespace {

constexpr double kNormal95 = 1.96;
constexpr double kUnknownHalfWidth = 0.1;
constexpr double kLeastError = 0.005;  // clocks and machines are never better: no size may outweigh all others

double micro_of(const MicroMeasurement& at) {
  return static_cast<double>(at.micro);
}

double relative_half_width(const MicroMeasurement& at) {
  return std::isfinite(at.half_width) ? std::max(at.half_width, 0.0) / at.seconds : kUnknownHalfWidth;
}

double standard_error(const MicroMeasurement& at) {
  return std::hypot(relative_half_width(at) / kNormal95, kLeastError);
}

void check(const std::vector<MicroMeasurement>& measured) {
  if (measured.empty()) throw UsageError("a throughput model needs at least one measured micro-batch");
  for (const MicroMeasurement& at : measured)
    if (at.micro < 1 || !(at.seconds > 0) || !std::isfinite(at.seconds))
      throw UsageError(text("micro-batch ", at.micro, " cannot have taken ", at.seconds, " seconds: both must be positive"));
}

struct LineFit {
  Eigen::Vector2d solution;  // t0 and slope
  Eigen::Matrix2d covariance;
};

/// Rows (1, b) / (t sigma) against 1 / sigma: relative errors in units of their standard error.
LineFit fit_line(std::span<const MicroMeasurement> measured) {
  const auto rows = static_cast<Eigen::Index>(measured.size());
  Eigen::MatrixX2d a(rows, 2);
  Eigen::VectorXd y(rows);
  for (Eigen::Index i = 0; i < rows; ++i) {
    const MicroMeasurement& at = measured[static_cast<std::size_t>(i)];
    const double sigma = standard_error(at);
    a.row(i) << 1 / (at.seconds * sigma), micro_of(at) / (at.seconds * sigma);
    y(i) = 1 / sigma;
  }
  // Sizes span many powers of ten; with columns of equal length the 2 x 2 inverse keeps its digits.
  const Eigen::Vector2d length = a.colwise().norm();
  const Eigen::Vector2d unscale = length.cwiseInverse();
  const Eigen::MatrixX2d scaled = a * unscale.asDiagonal();
  const Eigen::Vector2d solution = scaled.colPivHouseholderQr().solve(y);
  // Where the points scatter more than their intervals say, the scatter is believed.
  const double scatter = rows > 2 ? (scaled * solution - y).squaredNorm() / static_cast<double>(rows - 2) : 1;
  const Eigen::Matrix2d inverse = (scaled.transpose() * scaled).inverse();
  const Eigen::Matrix2d covariance = unscale.asDiagonal() * inverse * unscale.asDiagonal();
  return {unscale.cwiseProduct(solution), std::max(scatter, 1.0) * covariance};
}

/// The best slope of a line through the origin, by the same measure.
double fit_through_origin(std::span<const MicroMeasurement> measured) {
  double up = 0, down = 0;
  for (const MicroMeasurement& at : measured) {
    const double x = micro_of(at) / at.seconds, weight = std::pow(standard_error(at), -2);
    up += weight * x;
    down += weight * x * x;
  }
  return up / down;
}

/// Where rates, each shifted by so many of its half-widths, first reach `wanted`: between measurements by lines in time.
double crossing(std::span<const MicroMeasurement> measured, double wanted, double shift) {
  double last_micro = 0, last_lack = 0;
  for (const MicroMeasurement& at : measured) {
    const double lack = micro_of(at) - wanted * at.seconds * (1 - shift * relative_half_width(at));  // negative: too slow
    if (lack >= 0) return last_lack == 0 ? micro_of(at) : std::lerp(last_micro, micro_of(at), last_lack / (last_lack - lack));
    last_micro = micro_of(at);
    last_lack = lack;
  }
  return last_micro;
}

}  // namespace

ThroughputModel::ThroughputModel(std::span<const MicroMeasurement> measured) : measured_(measured.begin(), measured.end()) {
  check(measured_);
  std::ranges::stable_sort(measured_, {}, &MicroMeasurement::micro);
  fit();
  for (const MicroMeasurement& at : measured_) {
    const double deviation = std::abs(fitted(micro_of(at)) / at.seconds - 1);
    residual_ = std::max(residual_, deviation - relative_half_width(at));
  }
}

void ThroughputModel::fit() {
  const MicroMeasurement& largest = measured_.back();
  if (measured_.front().micro == largest.micro) {
    slope_ = fit_through_origin(measured_);
    return;
  }
  const LineFit line = fit_line(measured_);
  t0_ = line.solution(0);
  slope_ = line.solution(1);
  t0_variance_ = line.covariance(0, 0);
  slope_variance_ = line.covariance(1, 1);
  covariance_ = line.covariance(0, 1);
  if (t0_ < 0) {
    t0_ = 0;
    slope_ = fit_through_origin(measured_);
  }
  // A time that does not grow yet shows no plateau: one far away is as good, and finite.
  constexpr double kLeastGrowth = 1e-6;
  slope_ = std::max(slope_, kLeastGrowth * largest.seconds / micro_of(largest));
}

double ThroughputModel::seconds(double micro) const {
  return basis() == Basis::fit ? fitted(micro) : curve(micro);
}

double ThroughputModel::curve(double micro) const {
  const auto above = std::ranges::upper_bound(measured_, micro, {}, micro_of);
  if (above == measured_.begin()) return micro * above->seconds / micro_of(*above);
  const MicroMeasurement& left = *std::prev(above);
  if (above == measured_.end()) return micro * left.seconds / micro_of(left);
  const double part = (micro - micro_of(left)) / (micro_of(*above) - micro_of(left));
  return std::lerp(left.seconds, above->seconds, part);
}

double ThroughputModel::plateau() const {
  if (basis() == Basis::fit) return rate();
  double best = 0;
  for (const MicroMeasurement& at : measured_) best = std::max(best, at.samples_per_second());
  return best;
}

double ThroughputModel::efficiency(double micro) const {
  return micro / seconds(micro) / plateau();
}

ThroughputModel::Knee ThroughputModel::knee(double efficiency) const {
  const Knee knee = basis() == Basis::fit ? fitted_knee(efficiency) : measured_knee(efficiency);
  return {std::max(knee.micro, 1.0), std::max(knee.low, 1.0), std::max(knee.high, 1.0)};
}

// b / (b + t0 / slope) = e, and the error of t0 / slope to first order.
ThroughputModel::Knee ThroughputModel::fitted_knee(double efficiency) const {
  const double factor = efficiency / (1 - efficiency), ratio = t0_ / slope_;
  const double variance = t0_variance_ - 2 * ratio * covariance_ + ratio * ratio * slope_variance_;
  const double half_width = kNormal95 * std::sqrt(std::max(variance, 0.0)) / slope_;
  return {factor * ratio, factor * (ratio - half_width), factor * (ratio + half_width)};
}

ThroughputModel::Knee ThroughputModel::measured_knee(double efficiency) const {
  const double wanted = efficiency * plateau();
  return {crossing(measured_, wanted, 0), crossing(measured_, wanted, 1), crossing(measured_, wanted, -1)};
}

}  // namespace ddpkit
