#pragma once

#include "ddpkit/base/fields.hpp"
#include "ddpkit/batch/batch_options.hpp"
#include "ddpkit/checkpoint/checkpoint_options.hpp"
#include "ddpkit/comm/comm_options.hpp"
#include "ddpkit/config/user_settings.hpp"
#include "ddpkit/data/data_options.hpp"
#include "ddpkit/observe/observe_options.hpp"
#include "ddpkit/optim/optimizer_options.hpp"
#include "ddpkit/reduce/reducer_options.hpp"
#include "ddpkit/schedule/schedule_options.hpp"
#include "ddpkit/step/stepper_options.hpp"
#include "ddpkit/tensor/memory_options.hpp"
#include "ddpkit/train/train_options.hpp"
#include "ddpkit/tune/tune_options.hpp"

namespace ddpkit {

/// Everything a run file can say: one member per section. Components take their own struct, never the whole.
struct RunConfig {
  RunOptions run;
  DataOptions data;
  BatchOptions batch;
  OptimizerOptions optimizer;
  ScheduleOptions schedule;
  CommOptions comm;        ///< section `comm`, together with
  ReducerOptions reducer;  ///< how gradients are reduced
  StepperOptions step;
  TrainOptions train;
  MetricOptions metrics;
  CheckpointOptions checkpoint;
  MemoryOptions memory;
  TuneOptions tune;
  UserSettings user;  ///< what the program itself makes of it
};

/// Section `comm`: two components that a user sees as one. Borrows both.
struct CommSection {
  CommOptions& comm;
  ReducerOptions& reducer;
};

template <class Visitor>
void visit_fields(Visitor& visit, CommSection& section) {
  visit_fields(visit, section.comm);
  visit_fields(visit, section.reducer);
}

template <class Visitor>
void visit_fields(Visitor& visit, RunConfig& config) {
  CommSection comm{config.comm, config.reducer};
  visit("run", config.run, "the run as a whole");
  visit("data", config.data, "what is trained on");
  visit("batch", config.batch, "samples per optimizer step: global = micro x accumulate x ranks");
  visit("optimizer", config.optimizer, "the update rule");
  visit("schedule", config.schedule, "the learning rate over the run");
  visit("comm", comm, "how ranks talk and when gradients travel");
  visit("step", config.step, "what guards each optimizer step");
  visit("train", config.train, "evaluation and early stopping");
  visit("metrics", config.metrics, "what is recorded and shown");
  visit("checkpoint", config.checkpoint, "what is saved");
  visit("memory", config.memory, "how much a rank may use, and what happens when it is not enough");
  visit("tune", config.tune, "how the verbs probe and tune measure");
  visit("user", config.user, "settings of the program itself: single values under names of its own");
}

}  // namespace ddpkit
