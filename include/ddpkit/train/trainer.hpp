#pragma once

#include <c10/core/Device.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ddpkit/base/log.hpp"
#include "ddpkit/config/run_config.hpp"
#include "ddpkit/data/dataset.hpp"
#include "ddpkit/observe/run_folder.hpp"
#include "ddpkit/observe/tally.hpp"
#include "ddpkit/reduce/channels.hpp"
#include "ddpkit/schedule/progress.hpp"
#include "ddpkit/step/stepper.hpp"
#include "ddpkit/tensor/model.hpp"
#include "ddpkit/train/callback.hpp"
#include "ddpkit/train/metric.hpp"
#include "ddpkit/train/savings.hpp"

namespace ddpkit {

/// What a trainer works with. All of it must outlive the trainer.
struct TrainerContext {
  const RunConfig& config;
  Channels channels;
  Logger& log;
  RunFolder run_folder;     ///< without a path nothing is written
  std::string resume_from;  ///< checkpoint, or folder of checkpoints, to go on from; read on rank 0; empty: start anew
  c10::Device device = c10::kCPU;
};

/// How a call of Trainer::train ended. Equal on all ranks.
struct TrainSummary {
  enum class End {
    complete,  ///< all steps done
    early,     ///< a callback asked for the end, or the monitored metric stopped getting better
    stopped,   ///< asked for by a signal, and saved
  };

  End end = End::complete;
  Progress progress;
  Tally evaluation;               ///< the last one; empty without a validation set
  double train_seconds = 0;       ///< in training steps, evaluations and saves not counted
  double samples_per_second = 0;  ///< over all ranks, while training
  ReduceCounters counters;        ///< of this rank
};

/// Trains and evaluates one model on all ranks. Collective in everything it does; used from one thread.
class Trainer {
 public:
  /// Moves the model to the device and gives every rank rank 0's parameters and buffers. Collective: throws CommError
  /// (ExitStatus::disagree) on all ranks when the models differ in names, shapes or types.
  Trainer(Model model, LossFunction loss, const TrainerContext& context);

  /// A metric next to the loss, for training and evaluation alike. The name appears as "train/<name>" and "valid/<name>".
  Trainer& add_metric(std::string name, MetricFunction metric);

  /// One weight per sample of the training set, for `data.order: weighted`: how often it is drawn compared with the others.
  Trainer& set_sample_weights(std::vector<double> weights);

  Trainer& add_callback(std::shared_ptr<Callback> callback);

  /// Trains as the configuration says. Continues from `run.resume` where that is set. Throws on all ranks: CommError
  /// (ExitStatus::disagree) for data sets that differ, ConfigError and DataError for batches and data that do not go together.
  TrainSummary train(const Dataset& train_set, const Dataset* valid_set = nullptr);

  /// Takes the weights of the checkpoint that `context.resume_from` names, if it names one. Collective.
  void load_weights();

  /// Loss and metrics over a data set, in which every sample counts exactly once on any number of ranks.
  Tally evaluate(const Dataset& valid_set);

  const Model& model() const noexcept { return model_; }
  /// The program's loss, computed with the savings of memory that are in use at the time. The trainer must outlive it.
  LossFunction loss() const { return with_savings(loss_, savings_, context_.device.type()); }
  const std::vector<double>& sample_weights() const noexcept { return sample_weights_; }
  const TrainerContext& context() const noexcept { return context_; }

 private:
  friend class TrainingRun;

  Model model_;
  LossFunction loss_;
  TrainerContext context_;
  Savings savings_;
  std::vector<std::pair<std::string, MetricFunction>> metrics_;
  std::vector<std::shared_ptr<Callback>> callbacks_;
  std::vector<double> sample_weights_;
  std::optional<std::int64_t> fitting_micro_;  // once a larger micro-batch ran out of memory in training
};

}  // namespace ddpkit
