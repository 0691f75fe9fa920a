#pragma once

#include <memory>
#include <vector>

#include "ddpkit/batch/batch_plan.hpp"
#include "ddpkit/batch/batch_schedule.hpp"
#include "ddpkit/data/loader.hpp"
#include "ddpkit/data/order.hpp"
#include "ddpkit/optim/optimizer_options.hpp"
#include "ddpkit/reduce/reducer_options.hpp"
#include "ddpkit/schedule/lr_schedule.hpp"
#include "ddpkit/schedule/run_length.hpp"
#include "ddpkit/schedule/run_point.hpp"
#include "ddpkit/train/trainer.hpp"

namespace ddpkit {

/// What follows from the configuration, the data set and the world size alone, before any rank talks to another.
struct TrainingPlan {
  BatchPlan batch;  ///< of the next window
  std::unique_ptr<Order> order;
  std::unique_ptr<Loader> loader;
  RunBounds bounds;
  BatchSchedule changes;
  RunLength length;  ///< in the steps that will be taken; 0 where measurements change the batch and epochs end the run
  LrSchedule schedule;
  OptimizerOptions optimizer;  ///< as configured, but replicated where the update cannot be shared
  ReducerOptions reducer;      ///< as configured, delivering what that optimizer wants
};

/// What a plan is made from. All of it must outlive the plan.
struct PlanInput {
  const TrainerContext& context;
  const Model& model;
  const Dataset& train_set;
  const std::vector<double>& sample_weights;
};

/// Collective: what is wrong on one rank is an error on all.
std::unique_ptr<TrainingPlan> plan_training(const PlanInput& input);

}  // namespace ddpkit
