#include "train/noise_monitor.hpp"

#include <array>
#include <cmath>
#include <limits>

#include "support/catch.hpp"

namespace ddpkit::testing {
namespace {

RunConfig watching_config() {
  RunConfig config;
  config.metrics.noise_scale = true;
  config.metrics.noise_steps = 20;
  return config;
}

StepResult step_with(double small_squared_norm, double large_squared_norm) {
  StepResult result;
  result.noise = NoiseObservation{8, small_squared_norm, 32, large_squared_norm};
  return result;
}

double metric_called(const std::vector<Metric>& metrics, const std::string& name) {
  for (const Metric& metric : metrics)
    if (metric.name == name) return metric.value;
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

TEST_CASE("grad_variance is the mean squared distance of the ranks' gradients from their mean, over its square") {
  const std::array<std::array<double, 2>, 3> gradients{{{1, 2}, {3, -1}, {2, 5}}};
  const std::array<double, 2> mean{2, 2};
  double norms = 0, distances = 0;
  for (const auto& g : gradients) {
    norms += (g[0] * g[0] + g[1] * g[1]) / 3;
    distances += (std::pow(g[0] - mean[0], 2) + std::pow(g[1] - mean[1], 2)) / 3;
  }
  NoiseMonitor monitor(watching_config());
  monitor.observe(step_with(norms, 8));
  CHECK(metric_called(monitor.take_metrics(), "grad_variance") == Approx(distances / 8));
  monitor.observe(step_with(6, 4));
  CHECK(metric_called(monitor.take_metrics(), "grad_variance") == Approx(0.5));  // since the record before
  CHECK(std::isnan(metric_called(monitor.take_metrics(), "grad_variance")));
}

TEST_CASE("steps without a usable observation change nothing") {
  NoiseMonitor monitor(watching_config());
  monitor.observe(step_with(6, 4));
  const NoiseEstimate before = monitor.estimate();
  monitor.observe(StepResult{});
  monitor.observe(step_with(std::numeric_limits<double>::quiet_NaN(), 4));
  CHECK(monitor.estimate().windows == 1);
  CHECK(monitor.estimate().noise_scale == before.noise_scale);
  CHECK(metric_called(monitor.take_metrics(), "grad_variance") == Approx(0.5));
}

TEST_CASE("a batch that grows with the noise has it measured, and metrics and advice come only where asked for") {
  RunConfig growing;
  CHECK_FALSE(NoiseMonitor(growing).wanted());
  growing.batch.growth.by = GrowthBy::noise_scale;
  NoiseMonitor monitor(growing);
  CHECK(monitor.wanted());
  CHECK(monitor.take_metrics().empty());
  CHECK(monitor.advice(64).empty());
  CHECK_FALSE(NoiseMonitor(watching_config()).advice(64).empty());
}

}  // namespace ddpkit::testing
