#include "tune/measure_size.hpp"

#include <algorithm>

namespace ddpkit {
namespace {

constexpr std::int64_t kMostWindows = 200;

double elapsed(const WindowOutcome& window) {
  double most = 0;
  for (const WindowReading& rank : window.ranks) most = std::max(most, rank.elapsed_seconds);
  return most;
}

bool precise(const Estimate& estimate, double precision) {
  return estimate.half_width <= precision * estimate.value;
}

}  // namespace

SizeTrial measure_size(TrialWindows& windows, const BatchPlan& plan, const MeasureLimits& limits) {
  windows.set_plan(plan);
  SizeTrial trial{.summary = {.plan = plan}};
  std::vector<WindowOutcome> counted;
  double began = -1;
  for (std::int64_t warmup = limits.warmup; std::ssize(counted) < kMostWindows;) {
    WindowOutcome window = windows.run();
    trial.elapsed_seconds = elapsed(window);
    if (window.end == WindowOutcome::End::out_of_memory)
      return {.end = SizeTrial::End::out_of_memory,
              .summary = {.plan = plan},
              .account = window.account,
              .elapsed_seconds = trial.elapsed_seconds};
    if (window.end == WindowOutcome::End::not_finite) ++trial.not_finite;
    if (began < 0) began = trial.elapsed_seconds;
    if (warmup-- <= 0) counted.push_back(std::move(window));
    const bool enough = std::ssize(counted) >= limits.fewest;
    if (!enough && trial.elapsed_seconds >= limits.deadline) break;
    if (!enough) continue;
    trial.summary = summarise(plan, counted);
    if (precise(trial.summary.micro, limits.precision)) break;
    if (trial.elapsed_seconds >= std::min(limits.deadline, began + limits.seconds)) break;
  }
  if (std::ssize(counted) < limits.fewest) trial.end = SizeTrial::End::out_of_time;
  return trial;
}

}  // namespace ddpkit
