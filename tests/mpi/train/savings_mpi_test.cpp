// Ways to take less memory, on any number of ranks.
#include "ddpkit/tensor/recompute.hpp"
#include "support/trainer_world.hpp"

using namespace ddpkit;
using namespace ddpkit::testing;

namespace {

/// What a run with dropout inside a segment ends with, and how often the segment was computed.
struct SegmentedRun {
  std::vector<at::Tensor> parameters;
  double valid_loss = 0;
  std::int64_t calls = 0;
  std::int64_t second_times = 0;
};

SegmentedRun segmented_run(Communicator& ranks, Saving recompute) {
  RunConfig config = toy_config();
  config.batch.global = 24;
  config.batch.accumulate = 2;
  config.memory.recompute = recompute;
  ToyTrainer toy(ranks, config);
  SegmentedRun run;
  toy.loss = [&](const Batch& batch) -> Loss {
    const at::Tensor scores = recomputed(
        [&](const at::Tensor& x) {
          ++run.calls;
          run.second_times += recomputing() ? 1 : 0;
          return toy.model->forward(at::dropout(x, 0.3, at::GradMode::is_enabled()));
        },
        batch.input());
    return (scores - batch.target()).pow(2).sum(1).mean();
  };
  run.valid_loss = toy.train(/*valid_samples=*/7).evaluation.values().front().value;
  for (const at::Tensor& parameter : toy.model->parameters()) run.parameters.push_back(parameter.detach().clone());
  return run;
}

}  // namespace

TEST_CASE("a run that computes activations again ends with the same bits") {
  const auto ranks = make_communicator();
  const SegmentedRun plain = segmented_run(*ranks, Saving::never);
  const SegmentedRun again = segmented_run(*ranks, Saving::always);
  CHECK(plain.second_times == 0);
  CHECK(again.second_times > 0);
  CHECK(again.calls == plain.calls + again.second_times);
  CHECK(again.valid_loss == plain.valid_loss);
  for (std::size_t i = 0; i < plain.parameters.size(); ++i) CHECK(again.parameters[i].equal(plain.parameters[i]));
}

TEST_CASE("with memory.bf16 the model computes in bfloat16, and parameters stay float32 and equal on all ranks") {
  const auto ranks = make_communicator();
  RunConfig config = toy_config();
  config.memory.bf16 = Saving::always;
  ToyTrainer toy(*ranks, config);
  toy.model->to(torch::kFloat);
  bool narrow = true;
  toy.loss = [&](const Batch& batch) -> Loss {
    const at::Tensor scores = toy.model->forward(batch.input().to(torch::kFloat));
    narrow &= scores.scalar_type() == torch::kBFloat16;
    return (scores - batch.target().to(torch::kFloat)).pow(2).sum(1).mean();
  };
  const double before = toy.trainer.evaluate(ToyDataset(7)).values().front().value;
  CHECK(toy.train(/*valid_samples=*/7).evaluation.values().front().value < before);
  CHECK(narrow);
  CHECK(toy.model->parameters().front().scalar_type() == torch::kFloat);
  CHECK(equal_on_all_ranks(*ranks, Model(toy.model).parameters()));
}
