#pragma once

#include <memory>
#include <optional>
#include <string>

#include "ddpkit/batch/batch_plan.hpp"
#include "ddpkit/reduce/grad_reducer.hpp"
#include "ddpkit/step/stepper.hpp"
#include "ddpkit/train/trainer.hpp"
#include "ddpkit/tune/window_reading.hpp"
#include "train/training_plan.hpp"
#include "tune/live_state.hpp"
#include "tune/phase_clock.hpp"
#include "tune/profile_recorder.hpp"

namespace ddpkit {

/// Whether windows also record a profile of the step. They reduce after backward then, so that nothing slows it.
enum class Recording { none, profile };

/// Real windows of a trainer at any micro-batch, measured: its model, loss and data, with an optimizer, reducer, stepper and
/// loader of their own. Everything that they change is given back when it is destroyed.
///
/// Updates are real, at a rate so small that the weights hardly move: each size meets the losses that the run would begin with,
/// and none can diverge because of the size that was measured before it. No rung of the memory ladder is taken.
class TrialWindows {
 public:
  /// Collective. Throws Error (ExitStatus::memory) on all ranks when parameters and optimizer state alone do not fit.
  TrialWindows(const Trainer& trainer, const Dataset& train_set, const BatchPlan& plan, Recording recording = Recording::none);

  /// The windows that follow have this plan, and begin with the first sample again. Not collective, equal on all ranks.
  void set_plan(const BatchPlan& plan);
  const BatchPlan& plan() const noexcept { return plan_; }

  /// One window. Collective, and the answer is the same on all ranks.
  WindowOutcome run();

  /// Why the loss function cannot be called with this micro-batch, such as batch norm with a single sample: what the first rank
  /// on which it throws says. Empty when it can, or when memory is the reason. Collective.
  std::string complaint_about(std::int64_t micro);

  /// What the windows measured so far say of one rank's step; where it is recorded and there is one. Of this rank.
  std::optional<StepProfile> profile() const;

  /// Bytes that each rank may use, in rank order; 0: not known. Collective.
  std::vector<std::int64_t> memory_limits() const;

 private:
  void restore_weights();
  std::string account_of_shortage() const;
  void record(const WindowReading& mine);

  RunConfig config_;
  TrainerContext context_;
  Model model_;
  LiveState before_;
  BatchPlan plan_;
  std::unique_ptr<TrainingPlan> training_;
  GradReducer reducer_;
  std::unique_ptr<Optimizer> optimizer_;
  Stepper stepper_;
  PhaseClock clock_;
  std::optional<ProfileRecorder> recorder_;
  std::int64_t recorded_ = 0;  // windows
  LossFunction loss_;
};

}  // namespace ddpkit
