#include "ddpkit/optim/fused_optimizer.hpp"

#include <torch/torch.h>

#include <memory>

#include "ddpkit/base/error.hpp"
#include "ddpkit/optim/make_optimizer.hpp"
#include "support/catch.hpp"
#include "unit/optim/toy_parameters.hpp"

using namespace ddpkit;
using namespace ddpkit::testing;

namespace {

OptimizerOptions options_of(OptimizerKind kind) {
  OptimizerOptions options;
  options.name = kind;
  options.weight_decay = 0.01;
  options.no_decay = NoDecay::none;
  if (kind == OptimizerKind::sgd) options.momentum = 0.9;
  return options;
}

constexpr OptimizerKind kKinds[] = {OptimizerKind::sgd, OptimizerKind::adam, OptimizerKind::adamw};

}  // namespace

TEST_CASE("a gradient scale is the same as gradients multiplied beforehand") {
  const auto [type, tolerance] = GENERATE(
      table<at::ScalarType, double>({{at::kFloat, 3e-7}, {at::kDouble, 1e-14}, {at::kBFloat16, 1e-2}, {at::kHalf, 2e-3}}));
  for (const OptimizerKind kind : kKinds) {
    INFO(name_of(kind) << " " << at::toString(type));
    const auto scaled = toy_parameters(type), plain = copies_of(scaled);
    const auto optimizer = make_optimizer(scaled, options_of(kind)), reference = make_optimizer(plain, options_of(kind));
    for (std::int64_t step = 0; step < 5; ++step) {
      for (std::size_t i = 0; i < scaled.size(); ++i) {
        const at::Tensor gradient = toy_gradient(plain[i].tensor, step);
        plain[i].tensor.mutable_grad() = gradient * (1 / 3.0);
        scaled[i].tensor.mutable_grad() = gradient;
      }
      optimizer->step({.lr = 0.01, .grad_scale = 1 / 3.0});
      reference->step({.lr = 0.01});
    }
    CHECK(distance(scaled, plain) < tolerance);
  }
}

TEST_CASE("an update has the same bits on any number of threads") {
  const auto kind = GENERATE(OptimizerKind::sgd, OptimizerKind::adam, OptimizerKind::adamw);
  const int threads = at::get_num_threads();
  std::vector<std::vector<NamedTensor>> results;
  for (const int count : {1, 2, 3}) {
    at::set_num_threads(count);
    torch::manual_seed(4);
    const auto& parameters = results.emplace_back(std::vector<NamedTensor>{{"w", torch::randn({70001}).requires_grad_(true)}});
    const auto optimizer = make_optimizer(parameters, options_of(kind));
    for (std::int64_t step = 0; step < 2; ++step) {
      set_toy_gradients(parameters, step);
      optimizer->step({.lr = 0.01, .clip_norm = 0.5});
    }
  }
  at::set_num_threads(threads);
  CHECK(same_bits(results[0], results[1]));
  CHECK(same_bits(results[0], results[2]));
}

TEST_CASE("an update moves the version of its parameter, so that a graph that saved the parameter notices") {
  const at::Tensor weight = torch::ones({3}).requires_grad_(true);
  const auto optimizer = make_optimizer({{"w", weight}}, {});
  const at::Tensor saved = (weight * weight).sum();
  weight.mutable_grad() = torch::ones({3});
  optimizer->step({.lr = 0.1});
  CHECK_THROWS_AS(saved.backward(), c10::Error);
}

TEST_CASE("parameters of several types are updated in one step") {
  const auto kind = GENERATE(OptimizerKind::sgd, OptimizerKind::adam, OptimizerKind::adamw);
  auto mixed = toy_parameters(at::kFloat), narrow = toy_parameters(at::kBFloat16);
  for (auto& named : narrow) mixed.push_back({"narrow." + named.name, named.tensor});
  const auto alone = toy_parameters(at::kFloat);
  const auto optimizer = make_optimizer(mixed, options_of(kind)), reference = make_optimizer(alone, options_of(kind));
  for (std::int64_t step = 0; step < 20; ++step) {
    set_toy_gradients(mixed, step);
    set_toy_gradients(alone, step);
    optimizer->step({.lr = 0.01});
    reference->step({.lr = 0.01});
  }
  mixed.resize(alone.size());
  CHECK(same_bits(mixed, alone));
}

TEST_CASE("each group has its rate and its decay") {
  auto options = options_of(OptimizerKind::sgd);
  options.momentum = 0;
  options.weight_decay = 0.5;
  options.no_decay = NoDecay::biases_and_norms;
  options.groups = {{"fc.*", 0.1, {}}};
  const auto parameters = toy_parameters(at::kDouble), before = copies_of(parameters);
  const auto optimizer = make_optimizer(parameters, options);
  for (const auto& named : parameters) named.tensor.mutable_grad() = torch::ones_like(named.tensor.detach());
  optimizer->step({.lr = 0.2});
  const auto expected = [&](std::size_t i, double lr, double decay) {
    return before[i].tensor.detach() - lr * (1 + decay * before[i].tensor.detach());
  };
  CHECK(torch::allclose(parameters[0].tensor, expected(0, 0.02, 0.5), 0, 1e-15));
  CHECK(torch::allclose(parameters[1].tensor, expected(1, 0.02, 0), 0, 1e-15));
  CHECK(torch::allclose(parameters[2].tensor, expected(2, 0.2, 0.5), 0, 1e-15));
  CHECK(torch::allclose(parameters[3].tensor, expected(3, 0.2, 0), 0, 1e-15));
}

TEST_CASE("a rate of 0 leaves parameters alone and state moves") {
  const auto kind = GENERATE(OptimizerKind::sgd, OptimizerKind::adam, OptimizerKind::adamw);
  const auto parameters = toy_parameters(), before = copies_of(parameters);
  const auto optimizer = make_optimizer(parameters, options_of(kind));
  set_toy_gradients(parameters, 1);
  optimizer->step({.lr = 0});
  CHECK(same_bits(parameters, before));
  CHECK(optimizer->state()[1].tensor.abs().max().item<double>() > 0);
}

TEST_CASE("a parameter that is unfrozen starts like a new one") {
  const auto kind = GENERATE(OptimizerKind::sgd, OptimizerKind::adam, OptimizerKind::adamw);
  auto options = options_of(kind);
  if (kind == OptimizerKind::sgd) options.dampening = 0.3;  // makes the first update differ from the others
  const auto parameters = toy_parameters(at::kDouble);
  const std::vector<NamedTensor> late = {parameters[0]}, alone = copies_of(late);
  late[0].tensor.requires_grad_(false);
  const auto optimizer = make_optimizer(parameters, options), reference = make_optimizer(alone, options);
  const std::size_t frozen_entries = optimizer->state().size();
  for (std::int64_t step = 0; step < 8; ++step) {
    if (step == 3) late[0].tensor.requires_grad_(true);
    set_toy_gradients(parameters, step);
    if (step < 3) late[0].tensor.mutable_grad().reset();
    optimizer->step({.lr = 0.01});
    if (step < 3) continue;
    set_toy_gradients(alone, step);
    reference->step({.lr = 0.01});
  }
  CHECK(same_bits(late, alone));
  CHECK(optimizer->state().size() > frozen_entries);
  CHECK(optimizer->updates() == 8);
}

TEST_CASE("parameters may join, leave and be replaced") {
  auto parameters = toy_parameters();
  const auto optimizer = make_optimizer({parameters[0], parameters[1]}, options_of(OptimizerKind::adam));
  set_toy_gradients(parameters, 0);
  optimizer->step({.lr = 0.01});
  const at::Tensor kept = optimizer->state()[1].tensor;
  parameters[0].tensor = parameters[0].tensor.detach().clone().requires_grad_(true);
  optimizer->set_parameters({parameters[2], parameters[0]});
  const auto state = optimizer->state();
  REQUIRE(state.size() == 7);
  CHECK(state[1].name == "conv.weight.exp_avg");
  CHECK(state[4].name == "fc.weight.exp_avg");
  CHECK(state[4].tensor.is_same(kept));
  set_toy_gradients({parameters[0]}, 1);
  const at::Tensor before = parameters[0].tensor.detach().clone();
  optimizer->step({.lr = 0.01});
  CHECK_FALSE(torch::equal(before, parameters[0].tensor));
}

TEST_CASE("tied weights are updated once") {
  const auto parameters = toy_parameters(), once = copies_of(parameters);
  const auto optimizer =
      make_optimizer({parameters[0], {"decoder.weight", parameters[0].tensor}}, options_of(OptimizerKind::sgd));
  const auto reference = make_optimizer({once[0]}, options_of(OptimizerKind::sgd));
  set_toy_gradients(parameters, 0);
  set_toy_gradients(once, 0);
  optimizer->step({.lr = 0.1});
  reference->step({.lr = 0.1});
  CHECK(torch::equal(parameters[0].tensor, once[0].tensor));
}

TEST_CASE("what the kernels cannot do is refused by name") {
  const auto message_of = [](auto&& action) -> std::string {
    try {
      action();
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  const at::Tensor gaps = torch::zeros({4, 8}).slice(1, 0, 4).requires_grad_(true);
  CHECK(message_of([&] { make_optimizer({{"w", gaps}}, {}); }).find("parameter w of shape [4, 4]") == 0);
  const at::Tensor good = torch::zeros({4, 2}).requires_grad_(true);
  CHECK(message_of([&] { make_optimizer({{"w", good}, {"w", torch::zeros(3)}}, {}); }) == "two parameters are called w");
  const auto optimizer = make_optimizer({{"embedding.weight", good}}, {});
  torch::embedding(good, torch::tensor({1}), -1, false, /*sparse=*/true).sum().backward();
  CHECK(message_of([&] { optimizer->step({.lr = 1}); }).find("the gradient of embedding.weight is sparse") == 0);
  CHECK(torch::equal(good, torch::zeros({4, 2})));
}

TEST_CASE("settings that make no sense are refused") {
  const auto parameters = toy_parameters();
  CHECK_THROWS_AS(make_optimizer(parameters, {.nesterov = true}), ConfigError);
  CHECK_THROWS_AS(make_optimizer(parameters, {.momentum = 0.9, .dampening = 0.1, .nesterov = true}), ConfigError);
  CHECK_THROWS_AS(make_optimizer(parameters, {.name = OptimizerKind::adam, .beta1 = 1}), ConfigError);
  CHECK_THROWS_AS(make_optimizer(parameters, {.name = OptimizerKind::adamw, .beta2 = 1}), ConfigError);
}

TEST_CASE("zero_grad makes gradients undefined") {
  const auto parameters = toy_parameters();
  const auto optimizer = make_optimizer(parameters, {});
  set_toy_gradients(parameters, 0);
  optimizer->zero_grad();
  for (const auto& named : parameters) CHECK_FALSE(named.tensor.grad().defined());
}
