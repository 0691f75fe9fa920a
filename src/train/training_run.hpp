#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ddpkit/reduce/grad_reducer.hpp"
#include "ddpkit/train/best_tracker.hpp"
#include "ddpkit/train/stop_signal.hpp"
#include "ddpkit/train/trainer.hpp"
#include "train/batch_course.hpp"
#include "train/memory_ladder.hpp"
#include "train/plan_tuner.hpp"
#include "train/recorder.hpp"
#include "train/snapshot.hpp"
#include "train/training_plan.hpp"

namespace ddpkit {

/// One call of Trainer::train: everything that lives as long as a run, and its loop.
class TrainingRun {
 public:
  TrainingRun(Trainer& trainer, const Dataset& train_set, const Dataset* valid_set);

  TrainSummary run();

  /// What the last steps say of the gradient noise. Equal on all ranks.
  NoiseEstimate noise() const { return recorder_.noise().estimate(); }

 private:
  bool finished() const { return plan_->bounds.over(here_); }
  bool due(const Extent& every) const;
  void start();
  bool enter_window();
  void arrive();
  void step();
  void evaluate();
  void save(Standing standing, SaveFailure on_failure);
  void require_monitored_metric() const;
  void tell(const std::string& event);
  void tell_unused() const;
  void require_same_parameters() const;
  bool keeps_buffers() const;
  Wish wish() const;
  TrainSummary finish();
  std::string last_words() const;

  Trainer& trainer_;
  const RunConfig& config_;
  Channels channels_;
  const Dataset* valid_set_;

  std::unique_ptr<TrainingPlan> plan_;
  BatchCourse batch_;
  std::vector<NamedTensor> parameters_;  // those that hooks and optimizer hold
  GradReducer reducer_;
  PlanTuner plan_tuner_;
  std::unique_ptr<Optimizer> optimizer_;
  Stepper stepper_;
  Recorder recorder_;
  MemoryLadder memory_;
  Snapshot snapshot_;
  BestTracker best_;
  LossFunction loss_;
  StopSignal signal_;
  bool callback_stop_ = false;  // this rank's callbacks
  TrainSummary summary_;
  RunPoint here_;    // where the next window starts
  RunPoint before_;  // where the last one did
  std::int64_t evaluated_at_ = -1;
  std::int64_t saved_at_ = -1;
  std::int64_t started_at_ = 0;
};

}  // namespace ddpkit
