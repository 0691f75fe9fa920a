#pragma once

#include "ddpkit/schedule/progress.hpp"
#include "ddpkit/schedule/schedule_plan.hpp"

namespace ddpkit {

/// The learning rate as a pure function of progress: no state, nothing to save, the same on every rank and world size.
/// Thread-safe.
///
/// With T steps in the run, W steps of warm-up, target = base rate x scaling, f = final_factor, the peak p = max(W, 1) - 1 and
/// s = Progress::rate_step, or Progress::step where that is not set:
///
/// - scaling, g = Progress::rate_batch, or Progress::global_batch where that is not set: none 1; linear g / reference_batch;
/// sqrt
///   its square root.
/// - warm-up, s <= p: target x (s + 1) / W, or linear from warmup_start x target at step 0; exactly the target at p.
/// - constant: the target.
/// - step: target x gamma^floor((s - p) / period): the first drop comes `period` steps after the peak.
/// - multi_step: target x gamma^(milestones at or before s), counted from the start of the run.
/// - exponential: target x gamma^(epochs begun since the one with the peak): a stair at each start of an epoch.
/// - linear, polynomial, cosine, t = (s - p) / (T - 1 - p): target x (f + (1 - f) x shape(t)) with the shapes 1 - t,
///   (1 - t)^power and (1 + cos(pi t)) / 2: exactly f x target at the last step.
/// - cosine_restarts (Loshchilov and Hutter 2017, eq. 5): the cosine over cycles of `period`, `period` x period_factor, ...
///   steps from the peak on, each beginning at the target and falling towards f x target.
/// - wsd: the target, then linear over the last `period` steps: exactly f x target at the last one (Hägele et al. 2024).
///
/// Past the end of the run the decays that end at f stay there; the others go on.
class LrSchedule {
 public:
  /// Throws ConfigError when `base_lr` is negative or not finite.
  LrSchedule(const SchedulePlan& plan, double base_lr);

  /// The rate of the update that ends the window at `progress`. Throws UsageError for a negative step, for a global batch
  /// below 1 where the rate scales with it, and for a decay towards the end of a run whose length is not known.
  double at(const Progress& progress) const;

  const SchedulePlan& plan() const noexcept { return plan_; }

 private:
  double scale(const Progress& progress) const;

  SchedulePlan plan_;
  double base_lr_;
};

/// `LrSchedule(plan_schedule(options, run), base_lr)`.
LrSchedule make_schedule(const ScheduleOptions& options, double base_lr, const RunLength& run);

}  // namespace ddpkit
