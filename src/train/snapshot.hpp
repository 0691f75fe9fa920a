#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "ddpkit/checkpoint/standing.hpp"
#include "ddpkit/data/sampler_state.hpp"
#include "ddpkit/optim/optimizer.hpp"
#include "ddpkit/schedule/progress.hpp"
#include "ddpkit/tensor/model.hpp"
#include "ddpkit/train/best_tracker.hpp"
#include "ddpkit/train/trainer.hpp"
#include "train/batch_course.hpp"
#include "train/fitting_micro.hpp"

namespace ddpkit {

/// Settings without which a run that goes on would be another run: name and value.
using RunIdentity = std::map<std::string, std::string>;

/// What a run is besides its tensors. Independent of the world size.
struct RunState {
  Progress progress;
  SamplerState sampler;
  BestTracker::State best;
  std::optional<BatchCourse::State> batch;
  std::optional<FittingMicro> fitting_micro;
  std::optional<std::string> bucket_plan;  ///< where it was chosen by measuring
};

enum class SaveFailure {
  warn,   ///< say so and train on
  raise,  ///< StorageError on all ranks
};

/// Turns a run into a checkpoint and back. Rank 0 reads and writes; what was read is sent to the others, so they need not see
/// its file system.
class Snapshot {
 public:
  /// All arguments must outlive it.
  Snapshot(Model& model, Optimizer& optimizer, const TrainerContext& context, RunIdentity identity)
      : model_(model), optimizer_(optimizer), context_(context), identity_(std::move(identity)) {}

  /// Collective. Returns whether it was saved, equal on all ranks; without a run folder nothing is.
  bool save(const RunState& state, Standing standing, SaveFailure on_failure);

  /// Collective. Loads the weights alone of the same.
  static void resume_weights(Model& model, const TrainerContext& context);

  /// Collective. Loads what `context.resume_from` names, if anything; returns whether it did. Throws StorageError on all ranks
  /// when there is nothing to load there, and ConfigError when the checkpoint belongs to a run with another identity.
  bool resume(RunState& state);

 private:
  void write(const RunState& state, const std::vector<NamedTensor>& optimizer_state, Standing standing);

  Model& model_;
  Optimizer& optimizer_;
  const TrainerContext& context_;
  RunIdentity identity_;
};

}  // namespace ddpkit
