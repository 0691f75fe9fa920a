#include "ddpkit/batch/plan_outcome.hpp"

#include <limits>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/figures.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/schedule/lr_schedule.hpp"
#include "ddpkit/schedule/preset.hpp"

namespace ddpkit {
namespace {

void add_epoch(PlanOutcome& outcome, std::int64_t global, const PlanTerms& terms) {
  const std::int64_t full = terms.dataset / global;
  const std::int64_t left = terms.dataset % global;
  if (full == 0 && terms.tail == Tail::drop)
    throw ConfigError(text("the data set has ", grouped(terms.dataset), " samples, fewer than one global batch of ",
                           grouped(global), ", and tail drop leaves nothing; take tail partial or a smaller global batch"));
  outcome.steps_per_epoch = terms.tail == Tail::drop || left == 0 ? full : full + 1;
  outcome.dropped = terms.tail == Tail::drop ? left : 0;
  outcome.padded = terms.tail == Tail::pad && left > 0 ? global - left : 0;
}

std::optional<std::int64_t> steps_of(const PlanOutcome& outcome, const PlanTerms& terms) {
  if (terms.steps > 0) return terms.steps;
  if (!outcome.steps_per_epoch) return std::nullopt;
  if (terms.epochs > std::numeric_limits<std::int64_t>::max() / *outcome.steps_per_epoch)
    throw ConfigError(text(grouped(terms.epochs), " epochs of ", grouped(*outcome.steps_per_epoch),
                           " steps are more than can be counted; give fewer epochs"));
  return terms.epochs * *outcome.steps_per_epoch;
}

std::optional<std::int64_t> warmup_of(const PlanOutcome& outcome, const Extent& warmup) {
  const bool unknown_run = warmup.unit == Extent::Unit::percent && !outcome.steps;
  const bool unknown_epoch = warmup.unit == Extent::Unit::epochs && !outcome.steps_per_epoch;
  if (unknown_run || unknown_epoch) return std::nullopt;
  const std::int64_t steps =
      steps_in(warmup, {.steps = outcome.steps.value_or(0), .steps_per_epoch = outcome.steps_per_epoch.value_or(0)}, "warmup");
  if (outcome.steps && steps > *outcome.steps)
    throw ConfigError(text("a warm-up of ", grouped(steps), " steps does not fit into a run of ", grouped(*outcome.steps),
                           "; shorten it, or give it as a percentage of the run"));
  return steps;
}

double scaled_lr(double lr, std::int64_t global, const ScheduleOptions& schedule) {
  const ScheduleOptions only_scaling{.scaling = schedule.scaling, .reference_batch = schedule.reference_batch};
  return make_schedule(only_scaling, lr, {}).at({.global_batch = global});
}

}  // namespace

PlanOutcome outcome_of(std::int64_t global, const PlanTerms& terms) {
  const ScheduleOptions schedule = apply_preset(terms.schedule);
  PlanOutcome outcome;
  if (terms.lr) outcome.lr = scaled_lr(*terms.lr, global, schedule);
  if (terms.dataset > 0) add_epoch(outcome, global, terms);
  outcome.steps = steps_of(outcome, terms);
  outcome.warmup_steps = warmup_of(outcome, schedule.warmup);
  return outcome;
}

}  // namespace ddpkit
