#include "ddpkit/optim/torch_optimizer.hpp"

#include <torch/torch.h>

#include "ddpkit/base/error.hpp"
#include "support/catch.hpp"
#include "unit/optim/toy_parameters.hpp"

using namespace ddpkit;
using namespace ddpkit::testing;

namespace {

torch::optim::AdamOptions adam_settings() {
  return torch::optim::AdamOptions(0.01).weight_decay(0.1);
}

}  // namespace

TEST_CASE("a user's optimizer does what it did, at the schedule's rate and with scaled gradients") {
  const auto ours = toy_parameters(at::kDouble), theirs = copies_of(ours);
  torch::optim::Adam wrapped(tensors_of(ours), adam_settings()), plain(tensors_of(theirs), adam_settings());
  TorchOptimizer optimizer(wrapped);
  for (std::int64_t step = 0; step < 10; ++step) {
    set_toy_gradients(ours, step);
    set_toy_gradients(theirs, step);
    const double lr = 0.01 / static_cast<double>(step + 1);
    for (const auto& named : theirs) named.tensor.mutable_grad().mul_(0.25);
    for (auto& group : plain.param_groups()) group.options().set_lr(lr);
    plain.step();
    optimizer.step({.lr = lr, .grad_scale = 0.25});
  }
  CHECK(same_bits(ours, theirs));
  CHECK(optimizer.updates() == 10);
  optimizer.zero_grad();
  CHECK_FALSE(ours[0].tensor.grad().defined());
}

TEST_CASE("groups of a user's optimizer keep their ratio to its rate") {
  const auto parameters = toy_parameters();
  std::vector<torch::optim::OptimizerParamGroup> groups;
  groups.emplace_back(std::vector{parameters[0].tensor}, std::make_unique<torch::optim::SGDOptions>(0.02));
  groups.emplace_back(std::vector{parameters[1].tensor});
  torch::optim::SGD wrapped(groups, torch::optim::SGDOptions(0.1));
  TorchOptimizer optimizer(wrapped);
  optimizer.step({.lr = 1});
  CHECK(wrapped.param_groups()[0].options().get_lr() == Approx(0.2));
  CHECK(wrapped.param_groups()[1].options().get_lr() == Approx(1));
}

TEST_CASE("a user's optimizer continues bit for bit from saved state") {
  const auto parameters = toy_parameters(), unused = copies_of(parameters);
  torch::optim::Adam wrapped(tensors_of(parameters), adam_settings());
  TorchOptimizer optimizer(wrapped);
  const auto train = [](TorchOptimizer& who, const std::vector<NamedTensor>& what, std::int64_t from, std::int64_t to) {
    for (std::int64_t step = from; step < to; ++step) {
      set_toy_gradients(what, step);
      who.step({.lr = 0.001});
    }
  };
  train(optimizer, parameters, 0, 4);
  const auto saved = optimizer.state();
  const auto resumed = copies_of(parameters);
  torch::optim::Adam fresh(tensors_of(resumed), adam_settings());
  TorchOptimizer other(fresh);
  other.load_state(saved);
  CHECK(other.updates() == 4);
  train(optimizer, parameters, 4, 8);
  train(other, resumed, 4, 8);
  CHECK(same_bits(parameters, resumed));
  CHECK_THROWS_AS(other.load_state(std::vector<NamedTensor>{saved[0]}), DataError);
}
