#include <torch/torch.h>

#include <algorithm>

#include "ddpkit/base/error.hpp"
#include "ddpkit/optim/make_optimizer.hpp"
#include "support/catch.hpp"
#include "unit/optim/toy_parameters.hpp"

using namespace ddpkit;
using namespace ddpkit::testing;

namespace {

OptimizerOptions stateful(OptimizerKind kind) {
  OptimizerOptions options{.name = kind, .dampening = 0.2, .weight_decay = 0.01};
  if (kind == OptimizerKind::sgd) options.momentum = 0.9;
  return options;
}

void train(Optimizer& optimizer, const std::vector<NamedTensor>& parameters, std::int64_t from, std::int64_t to) {
  for (std::int64_t step = from; step < to; ++step) {
    set_toy_gradients(parameters, step);
    if (step % 2) parameters[1].tensor.mutable_grad().reset();
    optimizer.step({.lr = 0.01});
    optimizer.zero_grad();
  }
}

std::vector<std::string> names_in(const std::vector<NamedTensor>& state) {
  std::vector<std::string> names;
  for (const auto& named : state) names.push_back(named.name);
  std::sort(names.begin(), names.end());
  return names;
}

std::string load_error(Optimizer& optimizer, const std::vector<NamedTensor>& state) {
  try {
    optimizer.load_state(state);
  } catch (const DataError& error) {
    return error.what();
  }
  return "no error";
}

std::vector<NamedTensor> detached(const std::vector<NamedTensor>& state) {
  std::vector<NamedTensor> copies;
  for (const auto& [name, tensor] : state) copies.push_back({name, tensor.clone()});
  return copies;
}

}  // namespace

TEST_CASE("state loaded in another order of registration continues bit for bit") {
  const auto kind = GENERATE(OptimizerKind::sgd, OptimizerKind::adam, OptimizerKind::adamw);
  const auto parameters = toy_parameters();
  const auto optimizer = make_optimizer(parameters, stateful(kind));
  train(*optimizer, parameters, 0, 7);
  auto saved = detached(optimizer->state());
  std::reverse(saved.begin(), saved.end());
  const auto resumed = copies_of(parameters);
  auto permuted = resumed;
  std::rotate(permuted.begin(), permuted.begin() + 1, permuted.end());
  const auto other = make_optimizer(permuted, stateful(kind));
  other->load_state(saved);
  CHECK(other->updates() == 7);
  train(*optimizer, parameters, 7, 12);
  train(*other, resumed, 7, 12);
  CHECK(same_bits(parameters, resumed));
}

TEST_CASE("state saved before the first step continues as if never saved") {
  const auto kind = GENERATE(OptimizerKind::sgd, OptimizerKind::adam, OptimizerKind::adamw);
  const auto parameters = toy_parameters(), resumed = copies_of(parameters);
  const auto optimizer = make_optimizer(parameters, stateful(kind)), other = make_optimizer(resumed, stateful(kind));
  other->load_state(detached(optimizer->state()));
  train(*optimizer, parameters, 0, 3);
  train(*other, resumed, 0, 3);
  CHECK(same_bits(parameters, resumed));
}

TEST_CASE("state has the parameters' names") {
  const auto parameters = toy_parameters();
  const std::vector<NamedTensor> bias = {parameters[1]};
  using Names = std::vector<std::string>;
  CHECK(names_in(make_optimizer(bias, {})->state()) == Names{"updates"});
  CHECK(names_in(make_optimizer(bias, stateful(OptimizerKind::sgd))->state()) ==
        Names{"fc.bias.momentum_buffer", "fc.bias.step", "updates"});
  CHECK(names_in(make_optimizer(bias, stateful(OptimizerKind::adamw))->state()) ==
        Names{"fc.bias.exp_avg", "fc.bias.exp_avg_sq", "fc.bias.step", "updates"});
}

TEST_CASE("state that does not fit is refused with every name and nothing changes") {
  const auto parameters = toy_parameters();
  const auto optimizer = make_optimizer(parameters, stateful(OptimizerKind::adam));
  train(*optimizer, parameters, 0, 2);
  auto wrong = detached(optimizer->state());
  for (auto& named : wrong) named.tensor.zero_();
  wrong.erase(wrong.begin() + 1);  // fc.weight.exp_avg
  wrong.push_back({"fc2.weight.exp_avg", torch::zeros({2})});
  wrong.push_back({"gone.step", torch::zeros({})});
  for (auto& named : wrong) {
    if (named.name == "fc.bias.exp_avg_sq") named.tensor = torch::zeros({8});
    if (named.name == "conv.weight.exp_avg") named.tensor = named.tensor.to(at::kDouble);
  }
  const auto before = detached(optimizer->state());
  const std::string message = load_error(*optimizer, wrong);
  for (const char* part : {"optimizer state does not fit", "missing fc.weight.exp_avg", "unexpected fc2.weight.exp_avg",
                           "unexpected gone.step", "fc.bias.exp_avg_sq: expected Float [7], got Float [8]",
                           "conv.weight.exp_avg: expected Float [4, 3, 3, 3], got Double [4, 3, 3, 3]"}) {
    INFO(message);
    CHECK(message.find(part) != std::string::npos);
  }
  CHECK(same_bits(optimizer->state(), before));
  CHECK(optimizer->updates() == 2);
}

TEST_CASE("state of another rule is refused") {
  const auto parameters = toy_parameters();
  const auto adam = make_optimizer(parameters, stateful(OptimizerKind::adam));
  const auto sgd = make_optimizer(parameters, stateful(OptimizerKind::sgd));
  CHECK(load_error(*sgd, adam->state()).find("missing fc.weight.momentum_buffer") != std::string::npos);
}

TEST_CASE("a parameter trained before the save and frozen after the load keeps its state") {
  const auto parameters = toy_parameters();
  const auto optimizer = make_optimizer(parameters, stateful(OptimizerKind::adam));
  train(*optimizer, parameters, 0, 3);
  const auto saved = detached(optimizer->state());
  const auto resumed = copies_of(parameters);
  resumed[2].tensor.requires_grad_(false);
  const auto other = make_optimizer(resumed, stateful(OptimizerKind::adam));
  auto torn = saved;
  torn.pop_back();
  const auto before = names_in(other->state());
  CHECK(load_error(*other, torn) == "optimizer state does not fit:\n  missing gain.step");
  CHECK(names_in(other->state()) == before);
  other->load_state(saved);
  resumed[2].tensor.requires_grad_(true);
  train(*optimizer, parameters, 3, 6);
  train(*other, resumed, 3, 6);
  CHECK(same_bits(parameters, resumed));
}
