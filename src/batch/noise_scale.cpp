#include "ddpkit/batch/noise_scale.hpp"

#include <algorithm>
#include <cmath>

#include "ddpkit/base/figures.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// 0.975 quantile of Student's t: Cornish-Fisher expansion, within 1 % from 3 degrees of freedom on.
double student_t(double freedom) {
  const double z = 1.959964;
  const double first = (std::pow(z, 3) + z) / 4;
  const double second = (5 * std::pow(z, 5) + 16 * std::pow(z, 3) + 3 * z) / 96;
  const double third = (3 * std::pow(z, 7) + 19 * std::pow(z, 5) + 17 * std::pow(z, 3) - 15 * z) / 384;
  return z + first / freedom + second / std::pow(freedom, 2) + third / std::pow(freedom, 3);
}

/// Two means, and their variances and covariance times the square of the quantile.
struct Ratio {
  double over, under;
  double over_error, under_error, joint_error;
};

struct Band {
  double low = 0;
  double high = kInfinity;
};

/// All r >= 0 with (over - r under)^2 <= error of (over - r under): Fieller 1954.
Band fieller(const Ratio& ratio) {
  const double a = ratio.under * ratio.under - ratio.under_error;
  const double b = ratio.under * ratio.over - ratio.joint_error;
  const double c = ratio.over * ratio.over - ratio.over_error;
  const double root = std::sqrt(std::max(0.0, b * b - a * c));
  if (a > 0 && ratio.under > 0) return {std::max(0.0, (b - root) / a), std::max(0.0, (b + root) / a)};
  // The divisor may be 0, so no ratio is too large; only where the dividend cannot be 0 some are too small.
  return {c > 0 && a < 0 ? std::max(0.0, (b - root) / a) : 0, kInfinity};
}

std::string number_of_windows(std::int64_t windows) {
  return text(grouped(windows), windows == 1 ? " window" : " windows");
}

/// By how much doubling a batch cuts the steps.
double doubling_cut(double global, double critical) {
  return 1 - steps_ratio(critical, global, 2 * global);
}

std::string position(double global, double critical) {
  if (critical <= 0) return "is far above";
  const double times = global / critical;
  if (times >= 2) return text("is ", figure(std::round(10 * times) / 10), " times");
  if (times <= 0.5) return text("is 1/", grouped(std::llround(1 / times)), " of");
  return "is about";
}

std::string advice_in_numbers(double global, const NoiseEstimate& estimate) {
  const double critical = estimate.noise_scale;
  const double cut = doubling_cut(global, critical);
  if (global >= 2 * critical)
    return text(percent_figure(cut), ", halving it would add ", percent_figure(steps_ratio(critical, global, global / 2) - 1));
  return text(percent_figure(cut), " and take ", percent_figure(1 - 2 * cut), " more samples");
}

std::string advice_in_a_range(double global, const NoiseEstimate& estimate) {
  return text(percent_figure(doubling_cut(global, estimate.low)), " to ", percent_figure(doubling_cut(global, estimate.high)),
              "; the band is wide, more windows would narrow it");
}

}  // namespace

NoiseScale::NoiseScale(std::int64_t windows) : decay_(static_cast<double>(windows - 1) / static_cast<double>(windows + 1)) {}

void NoiseScale::observe(const NoiseObservation& seen) {
  const bool usable = seen.small_batch > 0 && seen.small_batch < seen.large_batch;
  if (!usable || !std::isfinite(seen.small_squared_norm) || !std::isfinite(seen.large_squared_norm)) return;
  const double b = seen.small_batch, large = seen.large_batch;
  const double gradient = (large * seen.large_squared_norm - b * seen.small_squared_norm) / (large - b);
  const double variance = (seen.small_squared_norm - seen.large_squared_norm) / (1 / b - 1 / large);
  ++windows_;
  weight_ = decay_ * weight_ + 1;
  squared_weight_ = decay_ * decay_ * squared_weight_ + 1;
  const double gradient_off = gradient - gradient_, variance_off = variance - variance_;
  gradient_ += gradient_off / weight_;
  variance_ += variance_off / weight_;
  gradient_spread_ = decay_ * gradient_spread_ + gradient_off * (gradient - gradient_);
  variance_spread_ = decay_ * variance_spread_ + variance_off * (variance - variance_);
  joint_spread_ = decay_ * joint_spread_ + gradient_off * (variance - variance_);
}

NoiseEstimate NoiseScale::estimate() const {
  NoiseEstimate estimate{.gradient = gradient_, .variance = variance_, .windows = windows_};
  if (windows_ == 0) return estimate;
  estimate.noise_scale = gradient_ > 0 ? std::max(0.0, variance_) / gradient_ : kInfinity;
  const double samples = weight_ * weight_ / squared_weight_;
  if (samples < 2) return estimate;
  // Variance of a weighted mean: the unbiased variance of one window over the effective number of them.
  const double factor = std::pow(student_t(samples - 1), 2) / (weight_ * (samples - 1));
  const Band band = fieller({.over = variance_,
                             .under = gradient_,
                             .over_error = factor * variance_spread_,
                             .under_error = factor * gradient_spread_,
                             .joint_error = factor * joint_spread_});
  estimate.low = band.low;
  estimate.high = band.high;
  return estimate;
}

double steps_ratio(double critical_batch, double from, double to) {
  if (std::isinf(critical_batch)) return from / to;
  return (1 + critical_batch / to) / (1 + critical_batch / from);
}

std::string batch_advice(double global, const NoiseEstimate& estimate) {
  const std::string batch = text("global batch ", grouped(std::llround(global)));
  if (estimate.windows == 0)
    return text(batch, ": the critical batch is not known, it shows only in full windows of several ranks or micro-batches");
  const bool open = std::isinf(estimate.high) || !std::isfinite(estimate.noise_scale);
  if (open && estimate.low == 0)
    return text(batch, ": the critical batch cannot be told yet from ", number_of_windows(estimate.windows));
  const std::string doubling = ": doubling it would cut the steps to target by ";
  if (open)
    return text(batch, "; the critical batch is above ", figure(estimate.low), ", how far cannot be told yet from ",
                number_of_windows(estimate.windows), doubling, advice_in_a_range(global, estimate));
  const bool wide = estimate.high > 4 * estimate.low && doubling_cut(global, estimate.high) > 0.1;
  return text(batch, ' ', position(global, estimate.noise_scale), " the critical batch (", figure(estimate.noise_scale),
              ", band ", figure(estimate.low), " to ", figure(estimate.high), ")", doubling,
              wide ? advice_in_a_range(global, estimate) : advice_in_numbers(global, estimate));
}

}  // namespace ddpkit
