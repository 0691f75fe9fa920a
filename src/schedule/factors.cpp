#include "schedule/factors.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace ddpkit {
namespace {

double as_double(std::int64_t steps) {
  return static_cast<double>(steps);
}

double start_factor(const SchedulePlan& plan, double scale) {
  switch (plan.warmup_start) {
    case WarmupStart::first_step: return 1 / as_double(plan.warmup_steps);
    case WarmupStart::fraction: return plan.start_factor;
    case WarmupStart::base_rate: return std::min(1.0, 1 / scale);
  }
  return 1;
}

// Exact at both ends: `shape` is 1 at the target and 0 at the end.
double towards_final(const SchedulePlan& plan, double shape) {
  return plan.final_factor + (1 - plan.final_factor) * shape;
}

double half_cosine(double t) {
  return (1 + std::cos(std::numbers::pi * t)) / 2;
}

double drops(double gamma, std::int64_t count) {
  return std::pow(gamma, as_double(count));
}

std::int64_t milestones_passed(const SchedulePlan& plan, std::int64_t step) {
  return std::upper_bound(plan.milestones.begin(), plan.milestones.end(), step) - plan.milestones.begin();
}

std::int64_t epochs_since_peak(const SchedulePlan& plan, std::int64_t step) {
  return step / plan.run.steps_per_epoch - plan.peak() / plan.run.steps_per_epoch;
}

// How much of the way from `first` to the last step of the run is done, at most all of it.
double share_done(const SchedulePlan& plan, std::int64_t first, std::int64_t step) {
  const std::int64_t last = plan.run.steps - 1;
  return step >= last ? 1 : as_double(step - first) / as_double(last - first);
}

double restarting_cosine(const SchedulePlan& plan, std::int64_t step) {
  double done = as_double(step - plan.peak());
  double cycle = as_double(plan.period);
  if (plan.period_factor == 1) done = std::fmod(done, cycle);
  for (; done >= cycle; cycle *= plan.period_factor) done -= cycle;
  return towards_final(plan, half_cosine(done / cycle));
}

double stable_then_linear(const SchedulePlan& plan, std::int64_t step) {
  const std::int64_t last_stable = plan.run.steps - 1 - plan.period;
  return step <= last_stable ? 1 : towards_final(plan, 1 - share_done(plan, last_stable, step));
}

}  // namespace

double warmup_factor(const SchedulePlan& plan, std::int64_t step, double scale) {
  const std::int64_t peak = plan.peak();
  if (step >= peak) return 1;
  const double start = start_factor(plan, scale);
  return start + (1 - start) * as_double(step) / as_double(peak);
}

double decay_factor(const SchedulePlan& plan, std::int64_t step) {
  const double t = share_done(plan, plan.peak(), step);
  switch (plan.decay) {
    case Decay::constant: return 1;
    case Decay::step: return drops(plan.gamma, (step - plan.peak()) / plan.period);
    case Decay::multi_step: return drops(plan.gamma, milestones_passed(plan, step));
    case Decay::exponential: return drops(plan.gamma, epochs_since_peak(plan, step));
    case Decay::linear: return towards_final(plan, 1 - t);
    case Decay::polynomial: return towards_final(plan, std::pow(1 - t, plan.power));
    case Decay::cosine: return towards_final(plan, half_cosine(t));
    case Decay::cosine_restarts: return restarting_cosine(plan, step);
    case Decay::warmup_stable_decay: return stable_then_linear(plan, step);
  }
  return 1;
}

}  // namespace ddpkit
