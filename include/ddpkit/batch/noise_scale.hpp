#pragma once

#include <cstdint>
#include <limits>
#include <string>

namespace ddpkit {

/// Squared norms of the mean gradient over a small and over the whole batch of one window.
struct NoiseObservation {
  double small_batch = 0;         ///< samples
  double small_squared_norm = 0;  ///< mean over ranks where several have such a batch
  double large_batch = 0;
  double large_squared_norm = 0;
};

/// The simple noise scale B = tr(Sigma) / |G|^2: the batch at which the noise of the gradient equals the gradient.
struct NoiseEstimate {
  /// Samples. NaN until there is one; infinite where the measured |G|^2 is not even positive.
  double noise_scale = std::numeric_limits<double>::quiet_NaN();
  double low = 0;                                         ///< ends of the 95 % band
  double high = std::numeric_limits<double>::infinity();  ///< infinite while |G|^2 cannot be told from 0
  double gradient = 0;                                    ///< |G|^2
  double variance = 0;                                    ///< tr(Sigma) of one sample
  std::int64_t windows = 0;                               ///< all that counted, also those that no longer weigh
};

/// Estimates the noise scale over the last windows: |G|^2 = (B |g_B|^2 - b |g_b|^2) / (B - b) and
/// tr(Sigma) = (|g_b|^2 - |g_B|^2) / (1/b - 1/B), each smoothed by itself (McCandlish et al. 2018, arXiv:1812.06162, appendix
/// A). Both are free of bias, so batches may change from window to window.
class NoiseScale {
 public:
  /// `windows`: over how many the two are smoothed. Weights fall exponentially, with that effective number of samples.
  explicit NoiseScale(std::int64_t windows);

  /// Passed over where the small batch is not smaller or a norm is not finite.
  void observe(const NoiseObservation& observation);

  /// The band is Fieller's for a ratio of two means, from the spread of the windows and Student's t at their effective number:
  /// wide after few windows, open to above where |G|^2 is within its own noise.
  NoiseEstimate estimate() const;

 private:
  double decay_;
  double weight_ = 0;
  double squared_weight_ = 0;
  std::int64_t windows_ = 0;
  double gradient_ = 0;  // weighted means
  double variance_ = 0;
  double gradient_spread_ = 0;  // weighted sums of squared deviations from them
  double variance_spread_ = 0;
  double joint_spread_ = 0;
};

/// Steps to a target: S(B) = S_min (1 + B_crit / B), with B_crit taken to be the noise scale. The factor by which the steps
/// shrink when the batch goes from `from` to `to`. An infinite critical batch is the limit: half the steps for twice the batch.
double steps_ratio(double critical_batch, double from, double to);

/// "global batch 4,096 is 5.2 times the critical batch (790, band 600 to 1,100): doubling it would cut the steps to target by
/// 8 %, halving it would add 16 %". Says so where the band is wide or nothing is known yet.
std::string batch_advice(double global, const NoiseEstimate& estimate);

}  // namespace ddpkit
