#include "train/noise_monitor.hpp"

#include <cmath>

namespace ddpkit {

NoiseMonitor::NoiseMonitor(const RunConfig& config)
    : metric_(config.metrics.noise_scale),
      growth_(config.batch.growth.by == GrowthBy::noise_scale),
      scale_(config.metrics.noise_steps) {}

void NoiseMonitor::observe(const StepResult& result) {
  if (!result.noise || !std::isfinite(result.noise->small_squared_norm)) return;
  scale_.observe(*result.noise);
  spread_ += result.noise->small_squared_norm - result.noise->large_squared_norm;
  squared_norm_ += result.noise->large_squared_norm;
}

std::vector<Metric> NoiseMonitor::take_metrics() {
  if (!metric_) return {};
  const NoiseEstimate now = scale_.estimate();
  const double variance = spread_ / squared_norm_;  // not a number where no window counted
  spread_ = squared_norm_ = 0;
  return {{"noise_scale", now.noise_scale, Shown::in_files},
          {"noise_scale_low", now.low, Shown::in_files},
          {"noise_scale_high", now.high, Shown::in_files},
          {"grad_variance", variance, Shown::in_files}};
}

std::string NoiseMonitor::advice(std::int64_t global) const {
  return metric_ ? batch_advice(static_cast<double>(global), scale_.estimate()) : "";
}

}  // namespace ddpkit
