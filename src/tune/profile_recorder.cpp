#include "tune/profile_recorder.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ddpkit {
namespace {

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Standard deviation over mean, the tenth of the slowest left out: what happens to a machine once a minute is not jitter.
double spread(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  values.resize(values.size() - values.size() / 10);
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return values.size() < 2 || mean == 0 ? 0 : std::min(1.0, std::sqrt(squares / (count - 1)) / mean);
}

}  // namespace

ProfileRecorder::ProfileRecorder(GradReducer& reducer) : reducer_(reducer) {
  reducer_.record_readiness(Readiness::recorded);
}

void ProfileRecorder::add(const RecordedWindow& window) {
  forward_.push_back(window.forward_seconds);
  backward_.push_back(window.backward_seconds);
  update_.push_back(window.update_seconds);
  const std::vector<GradReducer::Moment> moments = reducer_.ready_moments();
  ready_.resize(moments.size());
  for (std::size_t i = 0; i < moments.size(); ++i)
    if (moments[i] != GradReducer::Moment())
      ready_[i].push_back(std::chrono::duration<double>(moments[i] - window.backward_began).count());
}

StepProfile ProfileRecorder::profile() const {
  std::vector<double> compute(forward_.size());
  for (std::size_t i = 0; i < compute.size(); ++i) compute[i] = forward_[i] + backward_[i] + update_[i];
  StepProfile profile{.forward_seconds = median(forward_),
                      .backward_seconds = median(backward_),
                      .optimizer_seconds = median(update_),
                      .jitter = spread(compute)};
  const std::vector<GradientSpec> gradients = reducer_.gradient_specs();
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    const auto bytes = gradients[i].elements * static_cast<std::int64_t>(size_of(gradients[i].dtype));
    if (!ready_[i].empty() && bytes > 0)
      profile.gradients.push_back({gradients[i].name, bytes, std::max(0.0, median(ready_[i]))});
  }
  std::stable_sort(profile.gradients.begin(), profile.gradients.end(),
                   [](const GradientTiming& a, const GradientTiming& b) { return a.ready_seconds < b.ready_seconds; });
  profile.digest = model_digest(profile.gradients);
  return profile;
}

}  // namespace ddpkit
