#include "train/batch_course.hpp"

#include <algorithm>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/figures.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/comm/agree.hpp"

namespace ddpkit {
namespace {

RunPoint start_of(const WindowRange& window, std::int64_t step) {
  return {.step = step, .epoch = window.epoch, .position = window.begin};
}

}  // namespace

BatchCourse::BatchCourse(const RunConfig& config, TrainingPlan& plan, Communicator& ranks)
    : config_(config),
      plan_(plan),
      ranks_(ranks),
      first_(plan.loader->sampler()),
      largest_micro_(config.batch.micro.value_or(config.batch.max_micro.value_or(plan.batch.micro))),
      measured_(config.batch, plan.bounds, ranks.world_size()),
      in_force_(measured_.now()) {}

RunPoint BatchCourse::here(const Progress& progress) const {
  return start_of(plan_.loader->sampler().next(plan_.loader->state()), progress.step);
}

BatchCourse::Next BatchCourse::enter_window(Progress& progress) {
  Next next;
  RunPoint point = here(progress);
  if (plan_.bounds.over(point)) return next;
  const BatchInForce before = in_force_;
  Progress unchanged = progress;
  tell_rate(unchanged);
  // A larger batch may leave nothing of an epoch whose tail is dropped; then the window stands at the start of the next one.
  for (BatchInForce wanted = decide(point); wanted.global != in_force_.global; wanted = decide(point)) {
    if (over_under(wanted.global, progress.step)) return next;
    in_force_ = wanted;
    all_or_none(ranks_, "changing the batch", [&] { use(wanted.global); });
    point = here(progress);
  }
  tell_rate(progress);
  next.window = true;
  if (in_force_.global != before.global) next.change = account(unchanged, progress, point);
  reason_.clear();
  return next;
}

/// The batch of the window that starts at `point`.
BatchInForce BatchCourse::decide(const RunPoint& point) {
  if (!plan_.changes.constant()) return plan_.changes.at(point);
  if (config_.batch.growth.by == GrowthBy::noise_scale)
    if (const auto reason = measured_.consider(point, noise())) reason_ = *reason;
  return measured_.now();
}

/// Whether no window of `global` samples is left in the run.
bool BatchCourse::over_under(std::int64_t global, std::int64_t step) const {
  SamplerOptions options = plan_.loader->sampler().options();
  options.global = global;
  return plan_.bounds.over(start_of(ShardedSampler(plan_.bounds.samples, options).next(plan_.loader->state()), step));
}

/// The micro-batch stays within what was asked for and what memory has allowed; accumulation takes the rest.
void BatchCourse::use(std::int64_t global) {
  Loader& loader = *plan_.loader;
  if (loader.micro() < plan_.batch.micro) largest_micro_ = std::min(largest_micro_, loader.micro());
  plan_.batch = solve_batch({.global = global, .max_micro = largest_micro_}, ranks_.world_size());
  loader.set_micro(plan_.batch.micro);
  loader.set_global(global);
}

void BatchCourse::observe_validation(const Progress& progress, double loss) {
  if (const auto reason = measured_.consider(here(progress), loss)) reason_ = *reason;
}

void BatchCourse::resume(const SamplerState& sampler, const std::optional<State>& state) {
  if (state) {
    measured_.set_state(state->measured);
    in_force_ = state->in_force;
  }
  if (sampler.global > 0 && sampler.global != plan_.batch.global)
    all_or_none(ranks_, "going on with the batch of the checkpoint", [&] { use(sampler.global); });
  plan_.loader->jump(sampler);
}

/// In a run given in epochs the rate's clock ticks in samples; in one given in steps it counts them as they are.
void BatchCourse::tell_rate(Progress& progress) const {
  if (!may_change(config_.batch)) return;
  const ShardedSampler& sampler = plan_.loader->sampler();
  progress.global_batch = in_force_.global;
  progress.rate_batch = in_force_.rate_batch;
  if (plan_.bounds.steps == 0)
    progress.rate_step = step_at_constant_batch(sampler.next(plan_.loader->state()), sampler, first_);
}

std::string BatchCourse::account(const Progress& before, const Progress& now, const RunPoint& point) const {
  const BatchPlan& plan = plan_.batch;
  const int ranks = ranks_.world_size();
  const std::string rate = figure(plan_.schedule.at(now));
  const bool held = before.rate_batch == now.rate_batch;
  return text("step ", grouped(now.step), ", epoch ", point.epoch, ": global batch ", grouped(before.global_batch), " -> ",
              grouped(plan.global), " = micro ", grouped(plan.micro), " x accumulate ", grouped(plan.accumulate), " x ", ranks,
              ranks == 1 ? " rank" : " ranks", ", lr ",
              held ? text("held at ", rate) : text("scaled from ", figure(plan_.schedule.at(before)), " to ", rate),
              reason_.empty() ? "" : ": ", reason_);
}

}  // namespace ddpkit
