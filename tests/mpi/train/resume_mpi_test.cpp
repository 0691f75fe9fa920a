// A run that is stopped and goes on is the run that was never stopped.
#include "ddpkit/checkpoint/checkpoint_store.hpp"
#include "ddpkit/tensor/copy_into.hpp"
#include "ddpkit/tensor/safetensors_io.hpp"
#include "support/trainer_world.hpp"

using namespace ddpkit;
using namespace ddpkit::testing;

namespace {

RunConfig resumable(OptimizerKind kind) {
  RunConfig config = toy_config();
  config.schedule = {.warmup = {3, Extent::Unit::steps}, .decay = Decay::cosine};
  config.optimizer = {.name = kind, .lr = 0.02, .momentum = kind == OptimizerKind::sgd ? 0.9 : 0};
  return config;
}

/// Trains from `resume_from` until `steps` of the run are done, in `folder`; to its end for 0.
torch::nn::Sequential part(Communicator& ranks, const RunConfig& config, const Places& places, std::int64_t steps = 0) {
  ToyTrainer toy(ranks, config, places, toy_model(places.resume_from.empty() ? 1 : 99));
  if (steps > 0)
    toy.trainer.add_callback(std::make_shared<AfterStep>([=](const Progress& progress, const StepResult&) {
      return progress.step == steps - 1 ? Flow::stop : Flow::go_on;  // heard one step later
    }));
  toy.train();
  return toy.model;
}

}  // namespace

TEST_CASE("three stops and resumes in the middle of epochs change not one bit") {
  const auto ranks = make_communicator();
  for (const OptimizerKind kind : {OptimizerKind::sgd, OptimizerKind::adamw}) {
    const RunConfig config = resumable(kind);
    const torch::nn::Sequential expected = part(*ranks, config, {});
    const SharedFolder folder(*ranks);
    part(*ranks, config, {folder.run()}, 3);
    part(*ranks, config, {folder.run(), folder.checkpoints()}, 5);
    part(*ranks, config, {folder.run(), folder.checkpoints()}, 10);
    const torch::nn::Sequential resumed = part(*ranks, config, {folder.run(), folder.checkpoints()});
    CAPTURE(name_of(kind));
    CHECK(distance(*expected, *resumed) == 0);
    ranks->barrier();
  }
}

TEST_CASE("a run goes on with another number of ranks") {
  const auto ranks = make_communicator();
  const auto single = ranks->split(ranks->rank(), 0);
  for (const OptimizerKind kind : {OptimizerKind::sgd, OptimizerKind::adamw}) {
    const RunConfig config = resumable(kind);
    const torch::nn::Sequential expected = part(*ranks, config, {});
    const SharedFolder folder(*ranks);
    part(*ranks, config, {folder.run()}, 5);
    const torch::nn::Sequential alone = part(*single, config, {.resume_from = folder.checkpoints()});
    CAPTURE(name_of(kind));
    CHECK(distance(*expected, *alone) < 1e-10);
    ranks->barrier();
  }
}

TEST_CASE("a run goes on under another placement of its updates, with any number of ranks, and has the same bits") {
  const auto ranks = make_communicator();
  const auto single = ranks->split(ranks->rank(), 0);
  RunConfig config = resumable(OptimizerKind::adamw);
  config.step.clip_norm = 0.5;
  RunConfig sharded = config;
  sharded.optimizer.placement = UpdatePlacement::sharded;
  const torch::nn::Sequential expected = part(*ranks, config, {});
  CHECK(distance(*expected, *part(*ranks, sharded, {})) == 0);
  for (const auto& [first, second] : {std::pair(config, sharded), std::pair(sharded, config), std::pair(sharded, sharded)}) {
    const SharedFolder folder(*ranks);
    part(*ranks, first, {folder.run()}, 5);
    const torch::nn::Sequential alone = part(*single, second, {.resume_from = folder.checkpoints()});
    const torch::nn::Sequential resumed = part(*ranks, second, {folder.run(), folder.checkpoints()});
    CHECK(distance(*expected, *resumed) == 0);
    CHECK(distance(*expected, *alone) < 1e-10);
    ranks->barrier();
  }
}

TEST_CASE("a finished run that is resumed does nothing and keeps its weights") {
  const auto ranks = make_communicator();
  const RunConfig config = resumable(OptimizerKind::sgd);
  const SharedFolder folder(*ranks);
  const torch::nn::Sequential expected = part(*ranks, config, {folder.run()});
  CHECK(distance(*expected, *part(*ranks, config, {folder.run(), folder.checkpoints()})) == 0);
  ranks->barrier();
}

TEST_CASE("the weights of the best evaluation are kept, and can be evaluated") {
  const auto ranks = make_communicator();
  RunConfig config = toy_config();
  config.optimizer.lr = 0.5;  // far too large, so that it gets worse again
  config.train.evaluate_every = {1, Extent::Unit::steps};
  config.checkpoint.best = true;
  config.checkpoint.keep = 1;
  const SharedFolder folder(*ranks);
  double best = INFINITY;
  ToyTrainer toy(*ranks, config, {folder.run()});
  class Smallest final : public Callback {
   public:
    explicit Smallest(double& best) : best_(best) {}
    Flow on_evaluation(const Progress&, const Tally& metrics) override {
      best_ = std::min(best_, metrics.value("loss"));
      return Flow::go_on;
    }

   private:
    double& best_;
  };
  toy.trainer.add_callback(std::make_shared<Smallest>(best));
  const TrainSummary summary = toy.train(7);
  CHECK(summary.evaluation.value("loss") > best);

  const LatestCheckpoint kept = CheckpointStore(folder.checkpoints(), config.checkpoint).best_valid();
  REQUIRE(kept.checkpoint);
  ToyTrainer later(*ranks, config, {.resume_from = kept.checkpoint->folder().string()}, toy_model(5));
  later.trainer.load_weights();
  const ToyDataset valid_set(7);
  CHECK(later.trainer.evaluate(valid_set).value("loss") == best);
  ranks->barrier();
}

TEST_CASE("a checkpoint that cannot be written is passed over during training, and an error on all ranks at its end") {
  const auto ranks = make_communicator();
  RunConfig config = toy_config();
  config.checkpoint.every = {2, Extent::Unit::steps};
  const SharedFolder folder(*ranks);
  if (ranks->rank() == 0) write_file(folder.checkpoints(), "a file where the folder of checkpoints should be");
  ToyTrainer toy(*ranks, config, {folder.run()});
  try {
    toy.train();
    FAIL("nothing was thrown");
  } catch (const Error& error) {
    CHECK(error.status() == ExitStatus::storage);
    CHECK(error.on_all_ranks());
    CHECK_THAT(error.what(), Catch::Contains("checkpoints"));
  }
  torch::nn::Sequential expected = part(*ranks, toy_config(), {});
  CHECK(distance(*expected, *toy.model) == 0);
  ranks->barrier();
}

TEST_CASE("a checkpoint of another model is refused on all ranks with what is missing") {
  const auto ranks = make_communicator();
  const RunConfig config = resumable(OptimizerKind::sgd);
  const SharedFolder folder(*ranks);
  part(*ranks, config, {folder.run()}, 2);
  torch::nn::Sequential other(torch::nn::Linear(kToyInputs, kToyOutputs));
  other->to(torch::kDouble);
  ToyTrainer toy(*ranks, config, {.resume_from = folder.checkpoints()}, other);
  try {
    toy.train();
    FAIL("nothing was thrown");
  } catch (const Error& error) {
    CHECK(error.on_all_ranks());
    CHECK_THAT(error.what(), Catch::Contains("2.weight"));
  }
  ranks->barrier();
}

TEST_CASE("a checkpoint of a run with another seed or global batch is refused with the difference, on all ranks") {
  const auto ranks = make_communicator();
  const RunConfig config = resumable(OptimizerKind::sgd);
  const SharedFolder folder(*ranks);
  part(*ranks, config, {folder.run()}, 5);
  RunConfig other = config;
  other.run.seed = config.run.seed + 1;
  other.batch.global = 2 * kGlobalBatch;
  try {
    part(*ranks, other, {folder.run(), folder.checkpoints()});
    FAIL("nothing was thrown");
  } catch (const Error& error) {
    CHECK(error.status() == ExitStatus::config);
    CHECK_THAT(error.what(), Catch::Contains("batch.global was 12 and is 24") && Catch::Contains("run.seed was 3 and is 4"));
  }
  ranks->barrier();
}

TEST_CASE("a run that stopped early stays stopped when it is started again") {
  const auto ranks = make_communicator();
  RunConfig config = toy_config();
  config.optimizer.lr = 0;  // never gets better
  config.train.evaluate_every = {1, Extent::Unit::steps};
  config.train.patience = 2;
  const SharedFolder folder(*ranks);
  ToyTrainer first(*ranks, config, {folder.run()});
  const TrainSummary stopped = first.train(8);
  CHECK(stopped.end == TrainSummary::End::early);
  ToyTrainer again(*ranks, config, {folder.run(), folder.checkpoints()});
  const TrainSummary resumed = again.train(8);
  CHECK(resumed.end == TrainSummary::End::early);
  CHECK(resumed.progress.step == stopped.progress.step);
  ranks->barrier();
}

TEST_CASE("a run whose first layer is frozen when it goes on finds its optimizer's state on any number of ranks") {
  const auto ranks = make_communicator();
  const RunConfig config = resumable(OptimizerKind::adamw);
  const SharedFolder folder(*ranks);
  part(*ranks, config, {folder.run()}, 5);
  torch::nn::Sequential model = toy_model(99);
  for (auto& parameter : model[0]->parameters()) parameter.set_requires_grad(false);
  ToyTrainer toy(*ranks, config, {folder.run(), folder.checkpoints()}, model);
  CHECK(toy.train().progress.step == config.run.steps);
  ranks->barrier();
}
