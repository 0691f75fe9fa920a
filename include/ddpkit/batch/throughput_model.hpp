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
  /// and for times that are not positive. Never a negative t0 or rate.
  explicit ThroughputModel(std::span<const MicroMeasurement> measured);

  double t0() const noexcept { return t0_; }              ///< seconds
  double rate() const noexcept { return rate_; }          ///< samples per second of the plateau
  double residual() const noexcept { return residual_; }  ///< largest relative deviation of a measurement from the fit
  enum class Basis { fit, measured };
  Basis basis() const noexcept { return residual_ > 0.05 ? Basis::measured : Basis::fit; }

  /// Seconds of one micro-batch. Basis::measured: between measurements by lines, beyond them by the nearest one's rate.
  double seconds(double micro) const;

  /// Samples per second at `micro` over the best there is: the plateau of the fit, or the fastest measurement.
  double efficiency(double micro) const;

  struct Knee {
    double micro = 0;  ///< smallest size with the efficiency
    double low = 0;    ///< band, from the intervals of the measurements
    double high = 0;
  };
  Knee knee(double efficiency) const;

 private:
  std::vector<MicroMeasurement> measured_;
  double t0_ = 0;
  double rate_ = 0;
  double residual_ = 0;
  double t0_error_ = 0;  // standard errors and the covariance of t0 and 1/r
  double slope_error_ = 0;
  double covariance_ = 0;
};

}  // namespace ddpkit
