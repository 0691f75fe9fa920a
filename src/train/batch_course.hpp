#pragma once

#include <functional>
#include <optional>
#include <string>

#include "ddpkit/batch/measured_batch.hpp"
#include "ddpkit/comm/communicator.hpp"
#include "ddpkit/config/run_config.hpp"
#include "ddpkit/schedule/progress.hpp"
#include "train/training_plan.hpp"

namespace ddpkit {

/// The global batch in the course of one run: what the schedule or the measurements decide, done to the loader between two
/// windows. All ranks decide the same from the same numbers; only what cannot be done is agreed.
class BatchCourse {
 public:
  /// All arguments must outlive it.
  BatchCourse(const RunConfig& config, TrainingPlan& plan, Communicator& ranks);

  /// What growth by noise scale asks; equal on all ranks. Needed where that is configured.
  std::function<NoiseEstimate()> noise;

  /// Where the next window starts, as long as the batch does not change before it.
  RunPoint here(const Progress& progress) const;

  /// What comes next in the run.
  struct Next {
    bool window = false;  ///< one more; otherwise the run is over
    std::string change;   ///< "step 1,056, epoch 3: global batch 512 -> 2,048 = ..."; empty: the batch stays
  };

  /// Called before each window. Changes the batch where that is due, and tells `progress` what the learning rate needs to know.
  /// Collective where the batch changes.
  Next enter_window(Progress& progress);

  /// An evaluation that was due.
  void observe_validation(const Progress& progress, double loss);

  struct State {
    BatchInForce in_force;  ///< of the last window: what is decided since waits for the next one
    MeasuredBatch::State measured;
  };
  State state() const { return {in_force_, measured_.state()}; }

  /// Goes on where a run was saved. Collective.
  void resume(const SamplerState& sampler, const std::optional<State>& state);

 private:
  BatchInForce decide(const RunPoint& point);
  bool over_under(std::int64_t global, std::int64_t step) const;
  void use(std::int64_t global);
  std::string account(const Progress& before, const Progress& now, const RunPoint& point) const;
  void tell_rate(Progress& progress) const;

  const RunConfig& config_;
  TrainingPlan& plan_;
  Communicator& ranks_;
  ShardedSampler first_;  // at batch.global, whose windows are the clock of the learning rate
  std::int64_t largest_micro_;
  MeasuredBatch measured_;
  BatchInForce in_force_;
  std::string reason_;
};

}  // namespace ddpkit
