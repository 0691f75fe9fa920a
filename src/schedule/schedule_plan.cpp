#include "ddpkit/schedule/schedule_plan.hpp"

#include <algorithm>
#include <string>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/schedule/preset.hpp"

namespace ddpkit {
namespace {

bool needs_period(Decay decay) {
  return decay == Decay::step || decay == Decay::cosine_restarts || decay == Decay::warmup_stable_decay;
}

WarmupStart start_of(const ScheduleOptions& options) {
  if (options.warmup_start > 0) return WarmupStart::fraction;
  return options.preset == SchedulePreset::goyal_imagenet ? WarmupStart::base_rate : WarmupStart::first_step;
}

std::vector<std::int64_t> milestones_of(const ScheduleOptions& options, const RunLength& run) {
  std::vector<std::int64_t> steps;
  for (std::size_t i = 0; i < options.milestones.size(); ++i)
    steps.push_back(steps_in(options.milestones[i], run, text("schedule.milestones[", i, "]")));
  std::sort(steps.begin(), steps.end());
  return steps;
}

void check_warmup(const SchedulePlan& plan) {
  if (plan.warmup_steps > 1 && plan.run.steps > 0 && plan.warmup_steps > plan.run.steps)
    throw ConfigError(text("schedule.warmup: ", plan.warmup_steps, " steps in a run of ", plan.run.steps,
                           "; shorten it, or give it as a percentage of the run"));
  if (plan.warmup_steps > 1 && plan.warmup_steps == plan.run.steps && plan.needs_end())
    throw ConfigError(text("schedule.warmup: ", plan.warmup_steps, " steps fill the run of ", plan.run.steps,
                           " and leave none for the ", name_of(plan.decay), " decay"));
}

void check_period(const SchedulePlan& plan) {
  if (!needs_period(plan.decay)) return;
  if (plan.period < 1)
    throw ConfigError(
        text("schedule.period: got ", plan.period, " steps; the decay ", name_of(plan.decay), " needs 1 or more"));
  const bool too_long = plan.decay == Decay::warmup_stable_decay && plan.peak() + plan.period > plan.run.steps - 1;
  if (too_long && plan.run.steps > 1)
    throw ConfigError(text("schedule.period: warm-up of ", plan.warmup_steps, " steps and decay of ", plan.period,
                           " do not fit into a run of ", plan.run.steps, " steps with the target between them"));
}

void check_milestones(const SchedulePlan& plan) {
  if (plan.decay != Decay::multi_step) return;
  if (plan.milestones.empty()) throw ConfigError("schedule.milestones: empty; the decay multi_step needs at least one");
  if (plan.milestones.front() <= plan.peak())
    throw ConfigError(text("schedule.milestones: the rate drops at step ", plan.milestones.front(),
                           ", before it has reached its target at step ", plan.peak(), " (warm-up of ", plan.warmup_steps,
                           " steps); milestones count from the start of the run"));
}

void check_factors(const SchedulePlan& plan) {
  const auto refuse = [](std::string_view field, double got, std::string_view expected) {
    throw ConfigError(text("schedule.", field, ": got ", got, "; expected ", expected));
  };
  if (plan.reference_batch < 1) refuse("reference_batch", static_cast<double>(plan.reference_batch), "1 or more samples");
  if (!(plan.start_factor >= 0 && plan.start_factor <= 1)) refuse("warmup_start", plan.start_factor, "0 to 1");
  if (!(plan.final_factor >= 0 && plan.final_factor <= 1)) refuse("final_factor", plan.final_factor, "0 to 1");
  if (!(plan.gamma > 0)) refuse("gamma", plan.gamma, "more than 0");
  if (!(plan.power > 0)) refuse("power", plan.power, "more than 0");
  if (!(plan.period_factor >= 1)) refuse("period_factor", plan.period_factor, "1 or more");
}

void check_run(const SchedulePlan& plan) {
  if (plan.run.steps < 0) throw ConfigError(text("the run has ", plan.run.steps, " steps; expected 0 or more"));
  if (plan.decay == Decay::exponential && plan.run.steps_per_epoch < 1)
    throw ConfigError("schedule.decay: exponential falls once per epoch, but the length of an epoch is not known");
}

}  // namespace

bool SchedulePlan::needs_end() const noexcept {
  switch (decay) {
    case Decay::linear:
    case Decay::polynomial:
    case Decay::cosine:
    case Decay::warmup_stable_decay: return true;
    default: return false;
  }
}

SchedulePlan plan_schedule(const ScheduleOptions& given, const RunLength& run) {
  const ScheduleOptions options = apply_preset(given);
  SchedulePlan plan;
  plan.scaling = options.scaling;
  plan.reference_batch = options.reference_batch;
  plan.run = run;
  plan.warmup_steps = steps_in(options.warmup, run, "schedule.warmup");
  plan.warmup_start = start_of(options);
  plan.start_factor = options.warmup_start;
  plan.decay = options.decay;
  plan.milestones = milestones_of(options, run);
  plan.period = steps_in(options.period, run, "schedule.period");
  plan.period_factor = options.period_factor;
  plan.gamma = options.gamma;
  plan.power = options.power;
  plan.final_factor = options.final_factor;
  check_run(plan);
  check_factors(plan);
  check_warmup(plan);
  check_period(plan);
  check_milestones(plan);
  return plan;
}

}  // namespace ddpkit
