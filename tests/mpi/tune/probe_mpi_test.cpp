// Real windows are measured, and nothing of them is left behind.
#include "ddpkit/tune/probe.hpp"

#include "support/trainer_world.hpp"

using namespace ddpkit;
using namespace ddpkit::testing;

namespace {

torch::nn::Sequential sensitive_model() {
  torch::manual_seed(6);
  torch::nn::Sequential model(torch::nn::Linear(kToyInputs, 8), torch::nn::BatchNorm1d(8), torch::nn::Tanh(),
                              torch::nn::Dropout(0.3), torch::nn::Linear(8, kToyOutputs));
  model->to(torch::kDouble);
  return model;
}

RunConfig probed_config() {
  RunConfig config = toy_config();
  config.batch = {.global = 12, .micro = 1, .accumulate = std::nullopt};
  config.data.tail = Tail::drop;
  return config;
}

}  // namespace

TEST_CASE("training after a probe gives the same bits as training without, with dropout and batch norm") {
  const auto ranks = make_communicator();
  RunConfig config = probed_config();
  config.batch.micro = 12 / ranks->world_size();
  ToyTrainer plain(*ranks, config, {}, sensitive_model());
  plain.train();
  ToyTrainer probed(*ranks, config, {}, sensitive_model());
  const ToyDataset data(kTrainSamples);
  const ProbeReport report = probe(probed.trainer, data, {.windows = 3});
  CHECK(report.summary.windows == 3);
  probed.train();
  const std::vector<NamedTensor> expected = plain.trainer.model().weights();
  const std::vector<NamedTensor> found = probed.trainer.model().weights();
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(expected[i].name);
    CHECK(torch::equal(found[i].tensor, expected[i].tensor));
  }
}

TEST_CASE("a probe measures the configured plan on every rank") {
  const auto ranks = make_communicator();
  ToyTrainer toy(*ranks, probed_config());
  const ToyDataset data(kTrainSamples);
  const ProbeReport report = probe(toy.trainer, data, {.windows = 4});
  CHECK(report.world_size == ranks->world_size());
  CHECK(report.summary.plan == BatchPlan{.global = 12, .micro = 1, .accumulate = 12 / ranks->world_size()});
  CHECK(report.summary.memory.size() == static_cast<std::size_t>(ranks->world_size()));
  CHECK(report.summary.step.value > 0);
  const PhaseSeconds& phases = report.summary.phases;
  CHECK(phases.forward > 0);
  CHECK(phases.backward > 0);
  CHECK(report.out_of_memory.empty());
}

TEST_CASE("a loss that is not finite on one rank is counted on all, and the weights stay") {
  const auto ranks = make_communicator();
  ToyTrainer toy(*ranks, probed_config());
  const bool last = ranks->rank() == ranks->world_size() - 1;
  toy.loss = [&](const Batch& batch) -> Loss {
    Loss loss = toy_loss(toy.model, batch);
    if (last) loss.mean = loss.mean * std::nan("");
    return loss;
  };
  const ToyDataset data(kTrainSamples);
  CHECK(probe(toy.trainer, data, {.windows = 1}).not_finite == 3);
  CHECK(distance(*toy.model, *toy_model()) == 0);
}

TEST_CASE("a batch that is larger than the data set is refused on all ranks") {
  const auto ranks = make_communicator();
  RunConfig config = probed_config();
  config.batch.global = 24;
  ToyTrainer toy(*ranks, config);
  const ToyDataset data(kTrainSamples);
  CHECK_THROWS_AS(probe(toy.trainer, data), Error);
}

TEST_CASE("a probe that records gives a profile of the step: what waits for nobody, and gradients as backward makes them") {
  const auto ranks = make_communicator();
  RunConfig config = probed_config();
  config.run.name = "toy";
  ToyTrainer toy(*ranks, config);
  const ToyDataset data(kTrainSamples);
  CHECK_FALSE(probe(toy.trainer, data, {.windows = 2}).step_profile.has_value());
  const ProbeReport report = probe(toy.trainer, data, {.windows = 5, .profile_file = "unused"});
  REQUIRE(report.step_profile.has_value());
  const StepProfile& profile = *report.step_profile;
  CHECK(profile.model == "toy");
  CHECK(profile.samples == 12 / ranks->world_size());
  CHECK(profile.forward_seconds > 0);
  CHECK(profile.backward_seconds > 0);
  CHECK(profile.optimizer_seconds > 0);
  const std::vector<NamedTensor> parameters = toy.trainer.model().parameters();
  REQUIRE(profile.gradients.size() == parameters.size());
  std::int64_t bytes = 0;
  for (const NamedTensor& parameter : parameters) bytes += static_cast<std::int64_t>(parameter.tensor.nbytes());
  CHECK(profile.gradient_bytes() == bytes);
  double before = 0;
  for (const GradientTiming& gradient : profile.gradients) {
    CHECK(gradient.ready_seconds >= before);
    before = gradient.ready_seconds;
  }
  CHECK(before > 0);
  CHECK(profile.gradients.back().name.substr(0, 1) == "0");  // the first layer comes last
}
