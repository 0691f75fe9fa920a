#include "ddpkit/schedule/lr_schedule.hpp"

#include <cmath>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"
#include "schedule/factors.hpp"

namespace ddpkit {

LrSchedule::LrSchedule(const SchedulePlan& plan, double base_lr) : plan_(plan), base_lr_(base_lr) {
  if (!(std::isfinite(base_lr) && base_lr >= 0))
    throw ConfigError(text("optimizer.lr: got ", base_lr, "; expected a finite number, 0 or more"));
}

double LrSchedule::at(const Progress& progress) const {
  const std::int64_t step = progress.rate_step.value_or(progress.step);
  if (step < 0) throw UsageError(text("LrSchedule::at: step ", step, "; the first step is 0"));
  if (plan_.run.steps < 1 && plan_.needs_end())
    throw UsageError(text("LrSchedule::at: the decay ", name_of(plan_.decay), " needs the number of steps in the run"));
  const double scaling = scale(progress);
  const double factor = step <= plan_.peak() ? warmup_factor(plan_, step, scaling) : decay_factor(plan_, step);
  return base_lr_ * scaling * factor;
}

double LrSchedule::scale(const Progress& progress) const {
  if (plan_.scaling == Scaling::none) return 1;
  const double batch = progress.rate_batch.value_or(static_cast<double>(progress.global_batch));
  if (!(batch > 0))
    throw UsageError(text("LrSchedule::at: a global batch of ", batch, "; ", name_of(plan_.scaling),
                          " scaling needs the real one, 1 or more"));
  const double ratio = batch / static_cast<double>(plan_.reference_batch);
  return plan_.scaling == Scaling::linear ? ratio : std::sqrt(ratio);
}

LrSchedule make_schedule(const ScheduleOptions& options, double base_lr, const RunLength& run) {
  return LrSchedule(plan_schedule(options, run), base_lr);
}

}  // namespace ddpkit
