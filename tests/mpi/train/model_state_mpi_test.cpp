// Parameters and buffers of all kinds of models, on any number of ranks.
#include <torch/script.h>

#include <limits>

#include "support/trainer_world.hpp"

using namespace ddpkit;
using namespace ddpkit::testing;

namespace {

/// Keeps running statistics, and counts its forward passes in a buffer.
struct CountingNetImpl : torch::nn::Module {
  explicit CountingNetImpl(std::uint64_t seed = 1) {
    torch::manual_seed(seed);
    linear = register_module("linear", torch::nn::Linear(kToyInputs, 8));
    norm = register_module("norm", torch::nn::BatchNorm1d(8));
    head = register_module("head", torch::nn::Linear(8, kToyOutputs));
    calls = register_buffer("calls", torch::zeros({1}, torch::kDouble));
    to(torch::kDouble);
  }
  torch::Tensor forward(const torch::Tensor& input) {
    if (is_training()) calls.add_(1);
    return head(torch::tanh(norm(linear(input))));
  }
  torch::nn::Linear linear{nullptr};
  torch::nn::BatchNorm1d norm{nullptr};
  torch::nn::Linear head{nullptr};
  torch::Tensor calls;
};
TORCH_MODULE(CountingNet);

/// A trainer on any module with a forward.
template <class M>
struct OwnTrainer {
  OwnTrainer(Communicator& ranks, const RunConfig& given, M module, const Places& places = {})
      : config(given),
        log({.rank = ranks.rank(), .world_size = ranks.world_size(), .level = LogLevel::error}),
        model(std::move(module)),
        trainer(model, [this](const Batch& batch) { return loss(batch); },
                {.config = config,
                 .channels = ranks,
                 .log = log,
                 .run_folder = places.run_folder,
                 .resume_from = places.resume_from}) {}

  RunConfig config;
  Logger log;
  M model;
  std::function<Loss(const Batch&)> loss = [this](const Batch& batch) {
    return (model->forward(batch.input()) - batch.target()).pow(2).sum(1).mean();
  };
  Trainer trainer;
};

}  // namespace

TEST_CASE("running statistics are equal on all ranks after evaluation") {
  const auto ranks = make_communicator();
  RunConfig config = toy_config();
  config.batch.global = 12;
  config.data.tail = Tail::drop;
  OwnTrainer<CountingNet> own(*ranks, config, CountingNet(1));
  const ToyDataset train_set(kTrainSamples);
  const ToyDataset valid_set(9);
  own.trainer.train(train_set, &valid_set);
  CHECK(equal_on_all_ranks(*ranks, own.trainer.model().weights()));
  CHECK(own.model->calls.item<double>() == 12);
  CHECK(own.model->norm->running_var.isfinite().all().item<bool>());
}

TEST_CASE("a frozen module that each rank initialised in its own way is rank 0's everywhere") {
  const auto ranks = make_communicator();
  torch::nn::Sequential model = toy_model(static_cast<std::uint64_t>(10 + ranks->rank()));
  for (torch::Tensor& parameter : model[0]->as<torch::nn::Linear>()->parameters()) parameter.requires_grad_(false);
  const torch::nn::Sequential first = toy_model(10);
  RunConfig config = toy_config();
  config.run.steps = 3;
  ToyTrainer toy(*ranks, config, {}, model);
  CHECK(distance(*first, *model) == 0);
  toy.train();
  CHECK(equal_on_all_ranks(*ranks, toy.trainer.model().parameters()));
  CHECK(torch::equal(model->parameters()[0], first->parameters()[0]));
  CHECK_FALSE(torch::equal(model->parameters()[2], first->parameters()[2]));
}

TEST_CASE("a parameter that only exists twice under two names is trained once") {
  const auto ranks = make_communicator();
  struct TiedImpl : torch::nn::Module {
    TiedImpl() {
      torch::manual_seed(4);
      first = register_module("first", torch::nn::Linear(torch::nn::LinearOptions(kToyInputs, kToyInputs).bias(false)));
      second = register_module("second", first);
      head = register_module("head", torch::nn::Linear(kToyInputs, kToyOutputs));
      to(torch::kDouble);
    }
    torch::Tensor forward(const torch::Tensor& input) { return head(torch::tanh(second(torch::tanh(first(input))))); }
    torch::nn::Linear first{nullptr}, second{nullptr}, head{nullptr};
  };
  const auto single = ranks->split(ranks->rank(), 0);
  OwnTrainer<std::shared_ptr<TiedImpl>> together(*ranks, toy_config(), std::make_shared<TiedImpl>());
  OwnTrainer<std::shared_ptr<TiedImpl>> alone(*single, toy_config(), std::make_shared<TiedImpl>());
  const ToyDataset data(kTrainSamples);
  together.trainer.train(data);
  alone.trainer.train(data);
  CHECK(distance(*together.model, *alone.model) < 1e-10);
}

TEST_CASE("a scripted module trains as the same network in LibTorch does") {
  const auto ranks = make_communicator();
  const torch::nn::Sequential twin = toy_model();
  torch::jit::Module script("net");
  const auto weights = twin->named_parameters();
  script.register_parameter("w0", weights["0.weight"].detach().clone().requires_grad_(true), false);
  script.register_parameter("b0", weights["0.bias"].detach().clone().requires_grad_(true), false);
  script.register_parameter("w2", weights["2.weight"].detach().clone().requires_grad_(true), false);
  script.register_parameter("b2", weights["2.bias"].detach().clone().requires_grad_(true), false);
  script.define(R"(
    def forward(self, x):
      return torch.matmul(torch.tanh(torch.matmul(x, self.w0.t()) + self.b0), self.w2.t()) + self.b2
  )");
  const RunConfig config = toy_config();
  Logger log({.rank = ranks->rank(), .world_size = ranks->world_size(), .level = LogLevel::error});
  Trainer trainer(Model(script),
                  [&](const Batch& batch) -> Loss {
                    return (script.forward({batch.input()}).toTensor() - batch.target()).pow(2).sum(1).mean();
                  },
                  {.config = config, .channels = *ranks, .log = log, .run_folder = {}, .resume_from = {}});
  const ToyDataset data(kTrainSamples);
  trainer.train(data);
  ToyTrainer toy(*ranks, config);
  toy.train();
  CHECK((script.attr("w0").toTensor() - toy.model->parameters()[0]).abs().max().item<double>() < 1e-10);
  CHECK((script.attr("b2").toTensor() - toy.model->parameters()[3]).abs().max().item<double>() < 1e-10);
}

TEST_CASE("a buffer that a scripted module replaces at each call is the one that is synchronised and saved") {
  const auto ranks = make_communicator();
  torch::jit::Module script("net");
  script.register_parameter("frozen", torch::ones({kToyInputs, kToyOutputs}, torch::kDouble), false);
  script.register_parameter("bias", torch::zeros({kToyOutputs}, torch::kDouble).requires_grad_(true), false);
  script.register_buffer("seen", torch::zeros({1}, torch::kDouble));
  script.define(R"(
    def forward(self, x):
      self.seen = self.seen + x.abs().sum()
      return torch.matmul(x, self.frozen) + self.bias
  )");
  RunConfig config = toy_config();
  config.run.steps = 2;
  Logger log({.rank = ranks->rank(), .world_size = ranks->world_size(), .level = LogLevel::error});
  Trainer trainer(Model(script),
                  [&](const Batch& batch) -> Loss {
                    return (script.forward({batch.input()}).toTensor() - batch.target()).pow(2).sum(1).mean();
                  },
                  {.config = config, .channels = *ranks, .log = log, .run_folder = {}, .resume_from = {}});
  const ToyDataset train_set(kTrainSamples);
  trainer.train(train_set);
  const double mine = script.attr("seen").toTensor().item<double>();
  CHECK(mine > 0);
  const ToyDataset valid_set(1);
  trainer.evaluate(valid_set);
  double sum = mine;
  ranks->all_reduce(std::span(&sum, 1), ReduceOp::sum).wait();
  const bool read_the_sample = ranks->rank() == ranks->world_size() - 1;  // the share of a window of one
  const double averaged = script.attr("seen").toTensor().item<double>();
  CHECK((read_the_sample || averaged == Approx(sum / ranks->world_size()).epsilon(1e-12)));
}

TEST_CASE("after a loss that is not finite on one rank, policy skip keeps weights and statistics finite and equal") {
  const auto ranks = make_communicator();
  const int last = ranks->world_size() - 1;
  RunConfig config = toy_config();
  config.data.tail = Tail::drop;
  config.step.non_finite = NonFinite::skip;
  OwnTrainer<CountingNet> own(*ranks, config, CountingNet(1));
  std::int64_t calls = 0;
  std::vector<StepResult::Update> updates;
  own.loss = [&](const Batch& batch) -> Loss {
    const bool bad = torch::GradMode::is_enabled() && calls++ == 3 && ranks->rank() == last;
    const torch::Tensor input = bad ? batch.input() * std::numeric_limits<double>::quiet_NaN() : batch.input();
    return (own.model->forward(input) - batch.target()).pow(2).sum(1).mean();
  };
  own.trainer.add_callback(std::make_shared<AfterStep>([&](const Progress&, const StepResult& result) {
    updates.push_back(result.update);
    return Flow::go_on;
  }));
  const ToyDataset train_set(kTrainSamples);
  const ToyDataset valid_set(9);
  const TrainSummary summary = own.trainer.train(train_set, &valid_set);
  REQUIRE(updates.size() == 12);
  for (std::size_t step = 0; step < updates.size(); ++step)
    CHECK(updates[step] == (step == 3 ? StepResult::Update::skipped : StepResult::Update::applied));
  CHECK(std::isfinite(summary.evaluation.value("loss")));
  CHECK(equal_on_all_ranks(*ranks, own.trainer.model().weights()));
  for (const NamedTensor& item : own.trainer.model().weights()) {
    CAPTURE(item.name);
    CHECK(item.tensor.isfinite().all().item<bool>());
  }
}

TEST_CASE("a layer that the program put into evaluation mode stays there through training and evaluation") {
  const auto ranks = make_communicator();
  RunConfig config = toy_config();
  config.run.steps = 2;
  ToyTrainer toy(*ranks, config);
  toy.model[1]->eval();
  toy.train(4);
  CHECK_FALSE(toy.model[1]->is_training());
  CHECK(toy.model[0]->is_training());
}
