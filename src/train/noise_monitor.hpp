#pragma once

#include <string>
#include <vector>

#include "ddpkit/batch/noise_scale.hpp"
#include "ddpkit/config/run_config.hpp"
#include "ddpkit/observe/metric_record.hpp"
#include "ddpkit/step/step_result.hpp"

namespace ddpkit {

/// Follows the gradient noise scale through a run. Equal on all ranks, not collective. Its smoothing is not part of a
/// checkpoint: a resumed run begins anew and has its band back after `metrics.noise_steps` steps.
class NoiseMonitor {
 public:
  explicit NoiseMonitor(const RunConfig& config);

  /// Asked for as a metric, or by who lets the batch grow.
  bool wanted() const noexcept { return metric_ || growth_; }

  void observe(const StepResult& result);

  NoiseEstimate estimate() const { return scale_.estimate(); }

  /// For the record that is due: noise_scale with its band, and grad_variance over the steps since the call before, the
  /// variance of the small batches' mean gradients around the window's, over the square of the window's. Empty where not asked
  /// for.
  std::vector<Metric> take_metrics();

  /// What the estimate means for this global batch, in words; empty where not asked for.
  std::string advice(std::int64_t global) const;

 private:
  bool metric_;
  bool growth_;
  NoiseScale scale_;
  double spread_ = 0;  // since the last record
  double squared_norm_ = 0;
};

}  // namespace ddpkit
