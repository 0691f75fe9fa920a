#pragma once

// Trainers on the toy problem, on all ranks of the test program or on some.

#include <torch/torch.h>

#include <memory>
#include <string>
#include <vector>

#include "ddpkit/comm/agree.hpp"
#include "ddpkit/comm/make_communicator.hpp"
#include "ddpkit/train/trainer.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"
#include "support/toy_problem.hpp"

namespace ddpkit::testing {

/// 22 samples in windows of 12: the last window of an epoch has 10.
constexpr std::int64_t kTrainSamples = 22;
constexpr std::int64_t kGlobalBatch = 12;

inline RunConfig toy_config() {
  RunConfig config;
  config.run.seed = 3;
  config.run.steps = 12;
  config.batch.global = kGlobalBatch;
  config.data.tail = Tail::partial;
  config.data.workers = 0;
  config.optimizer = {.name = OptimizerKind::sgd, .lr = 0.05, .momentum = 0.9};
  config.train.evaluate_every = {0, Extent::Unit::steps};
  config.metrics.progress = ProgressDisplay::off;
  config.checkpoint = {.every = {0, Extent::Unit::steps}, .keep = 9, .best = false};
  return config;
}

/// One folder that all ranks see, gone with the object on rank 0.
class SharedFolder {
 public:
  explicit SharedFolder(Communicator& ranks) {
    if (ranks.rank() == 0) mine_ = std::make_unique<TemporaryFolder>();
    path_ = broadcast_text(ranks, mine_ ? mine_->path().string() : "");
  }
  std::string path() const { return path_; }
  RunFolder run() const { return RunFolder(path_); }
  std::string checkpoints() const { return run().checkpoints().string(); }

 private:
  std::unique_ptr<TemporaryFolder> mine_;
  std::string path_;
};

/// Where a trainer reads and writes.
struct Places {
  RunFolder run_folder = {};
  std::string resume_from = {};
};

/// A trainer on the toy model, and what it borrows. Quiet: it logs errors only.
class ToyTrainer {
 public:
  ToyTrainer(Communicator& ranks, const RunConfig& given, const Places& places = {}, torch::nn::Sequential module = toy_model())
      : config(given),
        log({.rank = ranks.rank(), .world_size = ranks.world_size(), .level = LogLevel::error}),
        model(std::move(module)),
        trainer(model, [this](const Batch& batch) { return loss(batch); },
                {.config = config,
                 .channels = ranks,
                 .log = log,
                 .run_folder = places.run_folder,
                 .resume_from = places.resume_from}) {}

  TrainSummary train(std::int64_t valid_samples = 0) {
    const ToyDataset train_set(kTrainSamples);
    const ToyDataset valid_set(valid_samples);
    return trainer.train(train_set, valid_samples > 0 ? &valid_set : nullptr);
  }

  RunConfig config;
  Logger log;
  torch::nn::Sequential model;
  std::function<Loss(const Batch&)> loss = [this](const Batch& batch) { return toy_loss(model, batch); };
  Trainer trainer;
};

/// Does `act` after each step.
class AfterStep final : public Callback {
 public:
  using Act = std::function<Flow(const Progress&, const StepResult&)>;
  explicit AfterStep(Act act) : act_(std::move(act)) {}
  Flow on_step_end(const Progress& progress, const StepResult& result) override { return act_(progress, result); }

 private:
  Act act_;
};

/// Whether every rank has the same bits in all of `tensors`.
inline bool equal_on_all_ranks(Communicator& ranks, const std::vector<NamedTensor>& tensors) {
  bool equal = true;
  for (const NamedTensor& item : tensors) {
    torch::Tensor first = item.tensor.detach().to(torch::kDouble).contiguous().clone();
    const auto count = static_cast<std::size_t>(first.numel());
    ranks.broadcast(std::span(first.data_ptr<double>(), count), 0).wait();
    equal &= torch::equal(first, item.tensor.detach().to(torch::kDouble));
  }
  return agree_all(ranks, equal);
}

}  // namespace ddpkit::testing
