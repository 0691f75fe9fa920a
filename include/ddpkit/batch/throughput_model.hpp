#pragma once

#include <span>
#include <vector>

#include "ddpkit/batch/batch_profile.hpp"

namespace ddpkit {

/// Time of one micro-batch as a function of its size: t(b) = t0 + b / r, so that the throughput is r b / (b + r t0) and the
/// efficiency at b is b / (b + r t0). Past a cache and on other machines that bend, where the residual exceeds 5 %, the
/// measured curve is used instead, and the model says so.
class ThroughputModel {
 public:
  /// Weighted least squares in relative error over at least two different sizes; with one, t0 = 0. Throws UsageError for none,
  /// and for times that are not positive. Never a negative t0 or rate. A half-width that is not finite counts as 10 %.
  explicit ThroughputModel(std::span<const MicroMeasurement> measured);

  double t0() const noexcept { return t0_; }           ///< seconds
  double rate() const noexcept { return 1 / slope_; }  ///< r, samples per second

  /// Largest relative deviation of a measurement from the fit, less what its own interval explains.
  double residual() const noexcept { return residual_; }

  enum class Basis {
    fit,       ///< t0 + b / r
    measured,  ///< the measured curve, since the machine does not follow the formula
  };
  Basis basis() const noexcept { return residual_ > 0.05 ? Basis::measured : Basis::fit; }

  /// The best samples per second there is: r, or those of the fastest measurement.
  double plateau() const;

  /// Seconds of one micro-batch. Basis::measured: between measurements by lines, beyond them by the nearest one's rate.
  double seconds(double micro) const;

  /// Samples per second at `micro` over the plateau.
  double efficiency(double micro) const;

  struct Knee {
    double micro = 0;  ///< smallest size with the efficiency, at least 1
    double low = 0;    ///< 95 % band, from the intervals of the measurements
    double high = 0;
  };

  /// `efficiency` lies between 0 and 1.
  Knee knee(double efficiency) const;

 private:
  void fit();
  double fitted(double micro) const { return t0_ + micro * slope_; }
  double curve(double micro) const;
  Knee fitted_knee(double efficiency) const;
  Knee measured_knee(double efficiency) const;

  std::vector<MicroMeasurement> measured_;  // in rising order of micro
  double t0_ = 0;
  double slope_ = 0;  // seconds per sample, 1 / r
  double residual_ = 0;
  double t0_variance_ = 0;
  double slope_variance_ = 0;
  double covariance_ = 0;
};

}  // namespace ddpkit
