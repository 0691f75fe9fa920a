// The search for a batch on a live model: what it finds, what it answers to trouble, and that it leaves nothing behind.
#include "ddpkit/tune/tune_batch.hpp"

#include <limits>

#include "ddpkit/comm/agree.hpp"
#include "ddpkit/tensor/cpu_memory.hpp"
#include "ddpkit/tensor/memory_meter.hpp"
#include "support/trainer_world.hpp"

using namespace ddpkit;
using namespace ddpkit::testing;
using namespace std::chrono_literals;

namespace {

/// As ddpkit::main does it, before anything else.
const bool kMemoryIsCounted = [] {
  install_cpu_memory();
  return true;
}();

constexpr std::int64_t kTuneSamples = 192;

/// Quick: no size is measured more closely than the fewest windows give.
RunConfig tuned_config(std::int64_t global = 48) {
  RunConfig config = toy_config();
  config.batch = {.global = global};
  config.data.tail = Tail::drop;
  config.tune = {.precision = 1, .max_micro = 16, .warmup = 1};
  return config;
}

torch::nn::Sequential model_with_norm_and_dropout() {
  torch::manual_seed(6);
  torch::nn::Sequential model(torch::nn::Linear(kToyInputs, 8), torch::nn::BatchNorm1d(8), torch::nn::Tanh(),
                              torch::nn::Dropout(0.3), torch::nn::Linear(8, kToyOutputs));
  model->to(torch::kDouble);
  return model;
}

/// A loss that also holds `bytes_per_row` for each row until backward is done.
LossFunction hungry_loss(ToyTrainer& toy, std::int64_t bytes_per_row) {
  return [&toy, bytes_per_row](const Batch& batch) -> Loss {
    const torch::Tensor ballast = torch::ones({batch.rows(), bytes_per_row / 8}, torch::kDouble);
    const torch::Tensor per_row = (toy.model->forward(batch.input()) - batch.target()).pow(2).sum(1);
    return (per_row * ballast.select(1, 0)).mean();
  };
}

/// A limit for this rank's tensors above what lives now, for the length of the scope.
class MemoryLimit {
 public:
  explicit MemoryLimit(std::int64_t bytes) { limit_cpu_memory({make_memory_meter(torch::kCPU)->read().live + bytes}); }
  ~MemoryLimit() { limit_cpu_memory({0}); }
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;
};

constexpr std::int64_t kRowBytes = 1 << 20;

/// Tensors above `bytes` are refused on this rank, for the length of the scope.
class LargestTensor {
 public:
  explicit LargestTensor(std::size_t bytes) {
    refuse_cpu_memory([bytes](std::size_t asked) { return asked > bytes; });
  }
  ~LargestTensor() { refuse_cpu_memory({}); }
  LargestTensor(const LargestTensor&) = delete;
  LargestTensor& operator=(const LargestTensor&) = delete;
};

}  // namespace

TEST_CASE("training after tune gives the same bits as training without, with dropout and batch norm") {
  const auto ranks = make_communicator();
  ToyTrainer plain(*ranks, tuned_config(12), {}, model_with_norm_and_dropout());
  plain.train();
  ToyTrainer tuned(*ranks, tuned_config(12), {}, model_with_norm_and_dropout());
  const ToyDataset data(kTuneSamples);
  tune_batch(tuned.trainer, data);
  tuned.train();
  const std::vector<NamedTensor> expected = plain.trainer.model().weights();
  const std::vector<NamedTensor> found = tuned.trainer.model().weights();
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(expected[i].name);
    CHECK(torch::equal(found[i].tensor, expected[i].tensor));
  }
}

TEST_CASE("all ranks come to the same profile and choice, which makes the global batch") {
  const auto ranks = make_communicator();
  ToyTrainer toy(*ranks, tuned_config());
  const ToyDataset data(kTuneSamples);
  const TuneResult result = tune_batch(toy.trainer, data);
  const std::vector<std::string> profiles = gather_texts(*ranks, to_json(result.profile));
  for (const std::string& profile : profiles) CHECK(profile == profiles.front());
  const BatchPlan& plan = result.choice.chosen.plan;
  CHECK(plan.micro * plan.accumulate * ranks->world_size() == 48);
  CHECK(result.profile.choice == plan);
  CHECK(result.verified.plan == plan);
  CHECK(result.verified.step.value > 0);
  CHECK(result.predicted_step_seconds > 0);
  CHECK(result.profile.measured.size() >= 3);
  CHECK(result.profile.gradient_bytes > 0);
}

TEST_CASE("a micro-batch that batch norm refuses is left out, and said so") {
  const auto ranks = make_communicator();
  ToyTrainer toy(*ranks, tuned_config(), {}, model_with_norm_and_dropout());
  const ToyDataset data(kTuneSamples);
  const TuneResult result = tune_batch(toy.trainer, data);
  CHECK(result.profile.measured.front().micro == 2);
  CHECK(result.choice.chosen.plan.micro >= 2);
  REQUIRE_FALSE(result.notes.empty());
  CHECK(result.notes.front().find("micro-batch of 1 was left out") != std::string::npos);
}

TEST_CASE("a loss function that fails at any size ends the search on all ranks with its own words") {
  const auto ranks = make_communicator();
  ToyTrainer toy(*ranks, tuned_config());
  toy.loss = [&](const Batch&) -> Loss { throw std::runtime_error("nothing works"); };
  const ToyDataset data(kTuneSamples);
  CHECK_THROWS_WITH(tune_batch(toy.trainer, data), Catch::Contains("nothing works"));
}

TEST_CASE("losses that are never finite end the search with what to look at") {
  const auto ranks = make_communicator();
  ToyTrainer toy(*ranks, tuned_config());
  toy.loss = [&](const Batch& batch) -> Loss { return toy_loss(toy.model, batch).mean * std::nan(""); };
  const ToyDataset data(kTuneSamples);
  try {
    tune_batch(toy.trainer, data);
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.status() == ExitStatus::diverged);
    CHECK(error.on_all_ranks());
  }
}

TEST_CASE("a budget that ends before one measurement is an error that names it") {
  const auto ranks = make_communicator();
  RunConfig config = tuned_config();
  config.tune.budget = 1ms;
  ToyTrainer toy(*ranks, config);
  toy.loss = hungry_loss(toy, 8 * kRowBytes);  // to fill so much takes longer than the budget
  const ToyDataset data(kTuneSamples);
  CHECK_THROWS_WITH(tune_batch(toy.trainer, data), Catch::Contains("tune.budget of 1 ms"));
}

TEST_CASE("sizes out of bounds are refused before anything is measured") {
  const auto ranks = make_communicator();
  RunConfig config = tuned_config();
  config.tune.min_micro = 1000;
  const ToyDataset data(kTuneSamples);
  ToyTrainer too_large(*ranks, config);
  CHECK_THROWS_AS(tune_batch(too_large.trainer, data), ConfigError);
  config.tune.max_micro = 0;
  ToyTrainer too_few_samples(*ranks, config);
  CHECK_THROWS_WITH(tune_batch(too_few_samples.trainer, data), Catch::Contains("more than the 192 samples"));
}

TEST_CASE("memory that runs out on the last rank alone is an answer on all") {
  REQUIRE(kMemoryIsCounted);
  const auto ranks = make_communicator();
  ToyTrainer toy(*ranks, tuned_config());
  toy.loss = hungry_loss(toy, kRowBytes);
  const ToyDataset data(kTuneSamples);
  const bool last = ranks->rank() == ranks->world_size() - 1;
  const LargestTensor refused((last ? 5 : 1000) * kRowBytes);
  const TuneResult result = tune_batch(toy.trainer, data);
  REQUIRE_FALSE(result.profile.out_of_memory.empty());
  CHECK(result.profile.out_of_memory.front() == 6);
  CHECK(result.profile.measured.back().micro == 5);
  CHECK(result.choice.chosen.plan.micro <= 4);
  CHECK(distance(*toy.model, *toy_model()) == 0);
}

TEST_CASE("a limit bounds the choice on all ranks, the rank with the least memory deciding, by name") {
  const auto ranks = make_communicator();
  RunConfig config = tuned_config();
  config.tune.efficiency = 0.99;
  ToyTrainer toy(*ranks, config);
  toy.loss = hungry_loss(toy, kRowBytes);
  const ToyDataset data(kTuneSamples);
  const bool last = ranks->rank() == ranks->world_size() - 1;
  const MemoryLimit limit(last ? 10 * kRowBytes : 100 * kRowBytes);
  const TuneResult result = tune_batch(toy.trainer, data);
  CHECK(result.profile.memory_limit >= 10 * kRowBytes);
  CHECK(result.profile.memory_limit < 100 * kRowBytes);
  CHECK(result.choice.chosen.plan.micro <= 8);
  CHECK(result.choice.chosen.memory_share <= 0.9);
  if (ranks->world_size() == 1) return;
  REQUIRE_FALSE(result.notes.empty());
  CHECK(result.notes.front().find("rank " + std::to_string(ranks->world_size() - 1) + " has the least memory") !=
        std::string::npos);
}

TEST_CASE("a limit below one sample is an error that says what to change") {
  const auto ranks = make_communicator();
  ToyTrainer toy(*ranks, tuned_config());
  toy.loss = hungry_loss(toy, kRowBytes);
  const ToyDataset data(kTuneSamples);
  const MemoryLimit limit(kRowBytes / 2);
  CHECK_THROWS_WITH(tune_batch(toy.trainer, data),
                    Catch::Contains("not even a micro-batch of 1 sample fits") && Catch::Contains("raise memory.limit"));
}
