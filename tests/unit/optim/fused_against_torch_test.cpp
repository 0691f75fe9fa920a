#include <torch/torch.h>

#include <memory>

#include "ddpkit/optim/make_optimizer.hpp"
#include "support/catch.hpp"
#include "unit/optim/toy_parameters.hpp"

using namespace ddpkit;
using namespace ddpkit::testing;

namespace {

std::unique_ptr<torch::optim::Optimizer> torch_twin(const OptimizerOptions& o, const std::vector<NamedTensor>& parameters) {
  const auto tensors = tensors_of(parameters);
  switch (o.name) {
    case OptimizerKind::sgd:
      return std::make_unique<torch::optim::SGD>(tensors, torch::optim::SGDOptions(o.lr)
                                                              .momentum(o.momentum)
                                                              .dampening(o.dampening)
                                                              .nesterov(o.nesterov)
                                                              .weight_decay(o.weight_decay));
    case OptimizerKind::adam:
      return std::make_unique<torch::optim::Adam>(
          tensors, torch::optim::AdamOptions(o.lr).betas({o.beta1, o.beta2}).eps(o.eps).weight_decay(o.weight_decay));
    case OptimizerKind::adamw:
      return std::make_unique<torch::optim::AdamW>(
          tensors, torch::optim::AdamWOptions(o.lr).betas({o.beta1, o.beta2}).eps(o.eps).weight_decay(o.weight_decay));
  }
  return nullptr;
}

enum class Use { all, every_third_left_out };

double distance_after(std::int64_t steps, OptimizerOptions options, std::vector<NamedTensor> ours, Use use) {
  options.no_decay = NoDecay::none;  // torch::optim knows no exemptions
  const auto theirs = copies_of(ours);
  const auto optimizer = make_optimizer(ours, options);
  const auto twin = torch_twin(options, theirs);
  for (std::int64_t step = 0; step < steps; ++step) {
    set_toy_gradients(ours, step);
    set_toy_gradients(theirs, step);
    if (use == Use::every_third_left_out) {
      const auto left_out = static_cast<std::size_t>(step) % 3;
      ours[left_out].tensor.mutable_grad().reset();
      theirs[left_out].tensor.mutable_grad().reset();
    }
    const double lr = options.lr / (1.0 + 0.01 * static_cast<double>(step));
    for (auto& group : twin->param_groups()) group.options().set_lr(lr);
    optimizer->step({.lr = lr});
    twin->step();
  }
  return distance(ours, theirs);
}

const std::vector<std::pair<std::string, OptimizerOptions>> kAllRules = {
    {"sgd", {.lr = 0.02}},
    {"sgd with decay", {.lr = 0.02, .weight_decay = 0.05}},
    {"sgd with momentum", {.lr = 0.02, .momentum = 0.9}},
    {"sgd with momentum and decay", {.lr = 0.02, .momentum = 0.9, .weight_decay = 0.05}},
    {"sgd with dampening", {.lr = 0.02, .momentum = 0.9, .dampening = 0.3, .weight_decay = 0.05}},
    {"sgd with Nesterov's momentum", {.lr = 0.02, .momentum = 0.9, .nesterov = true, .weight_decay = 0.05}},
    {"adam", {.name = OptimizerKind::adam, .lr = 0.003}},
    {"adam with decay", {.name = OptimizerKind::adam, .lr = 0.003, .beta1 = 0.8, .eps = 1e-6, .weight_decay = 0.05}},
    {"adamw", {.name = OptimizerKind::adamw, .lr = 0.003}},
    {"adamw with decay", {.name = OptimizerKind::adamw, .lr = 0.003, .beta2 = 0.95, .weight_decay = 0.05}},
};

}  // namespace

TEST_CASE("100 fused steps equal torch::optim to rounding") {
  for (const auto& [rule, options] : kAllRules) {
    INFO(rule);
    CHECK(distance_after(100, options, toy_parameters(at::kFloat), Use::all) < 1e-6);
    CHECK(distance_after(100, options, toy_parameters(at::kDouble), Use::all) < 1e-12);
  }
}

TEST_CASE("a step equals LibTorch's own fused kernels to rounding") {
  for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
    const double tolerance = type == at::kFloat ? 5e-7 : 1e-14;
    const OptimizerOptions o{.name = OptimizerKind::adamw, .weight_decay = 0.02, .no_decay = NoDecay::none};
    const auto ours = toy_parameters(type), theirs = copies_of(ours);
    const auto optimizer = make_optimizer(ours, o);
    const at::NoGradGuard no_grad;
    std::vector<at::Tensor> gradients, means, squares, steps;
    for (const auto& named : theirs) {
      means.push_back(torch::zeros_like(named.tensor));
      squares.push_back(torch::zeros_like(named.tensor));
      steps.push_back(torch::zeros({}));
    }
    for (std::int64_t step = 0; step < 20; ++step) {
      set_toy_gradients(ours, step);
      gradients.clear();
      for (const auto& named : theirs) gradients.push_back(toy_gradient(named.tensor, step));
      for (const auto& count : steps) count.add_(1);
      optimizer->step({.lr = 0.01});
      at::_fused_adamw_(tensors_of(theirs), gradients, means, squares, {}, steps, 0.01, o.beta1, o.beta2, o.weight_decay, o.eps,
                        /*amsgrad=*/false, /*maximize=*/false);
    }
    CHECK(distance(ours, theirs) < tolerance);
  }
}

TEST_CASE("parameters without gradient are left alone as torch::optim does") {
  for (const auto& [rule, options] : kAllRules) {
    INFO(rule);
    CHECK(distance_after(20, options, toy_parameters(at::kDouble), Use::every_third_left_out) < 1e-12);
  }
}

TEST_CASE("a channels_last weight is updated in its own memory order") {
  for (const auto& [rule, options] : kAllRules) {
    INFO(rule);
    auto parameters = toy_parameters(at::kDouble);
    at::Tensor& weight = parameters[2].tensor;
    weight = weight.detach().contiguous(at::MemoryFormat::ChannelsLast).requires_grad_(true);
    CHECK(distance_after(20, options, parameters, Use::all) < 1e-12);
    CHECK(weight.is_contiguous(at::MemoryFormat::ChannelsLast));
  }
}

TEST_CASE("a gradient in another memory order than its parameter counts element by element") {
  for (const auto& [rule, options] : kAllRules) {
    INFO(rule);
    const auto parameters = toy_parameters(at::kDouble), plain = copies_of(parameters);
    const auto optimizer = make_optimizer(parameters, options), reference = make_optimizer(plain, options);
    for (std::int64_t step = 0; step < 3; ++step) {
      set_toy_gradients(parameters, step);
      set_toy_gradients(plain, step);
      at::Tensor& gradient = parameters[2].tensor.mutable_grad();
      gradient = gradient.contiguous(at::MemoryFormat::ChannelsLast);
      optimizer->step({.lr = 0.1, .grad_scale = 0.5});
      reference->step({.lr = 0.1, .grad_scale = 0.5});
    }
    CHECK(same_bits(parameters, plain));
  }
}

TEST_CASE("each update in 16 bits is the float64 update, rounded") {
  // State and parameters are carried over as they were rounded, so that only one step's rounding is seen.
  const auto [type, half_ulp] = GENERATE(table<at::ScalarType, double>({{at::kBFloat16, 1.0 / 256}, {at::kHalf, 1.0 / 2048}}));
  for (auto [rule, options] : kAllRules) {
    INFO(rule << " " << at::toString(type));
    options.no_decay = NoDecay::none;
    options.lr *= 10;  // moves of many last places
    const auto narrow = toy_parameters(type), wide = toy_parameters(at::kDouble);
    const auto optimizer = make_optimizer(narrow, options), reference = make_optimizer(wide, options);
    for (std::int64_t step = 0; step < 6; ++step) {
      auto state = optimizer->state();
      for (auto& named : state)
        if (named.tensor.scalar_type() == type) named.tensor = named.tensor.to(at::kDouble);
      reference->load_state(state);
      for (std::size_t i = 0; i < narrow.size(); ++i) {
        narrow[i].tensor.mutable_grad() = toy_gradient(narrow[i].tensor, step);
        wide[i].tensor.mutable_grad() = narrow[i].tensor.grad().to(at::kDouble) / 4;
        wide[i].tensor.set_data(narrow[i].tensor.detach().to(at::kDouble));
      }
      optimizer->step({.lr = options.lr, .grad_scale = 0.25});
      reference->step({.lr = options.lr});
      for (std::size_t i = 0; i < narrow.size(); ++i)
        CHECK(torch::allclose(narrow[i].tensor.to(at::kDouble), wide[i].tensor, 1.1 * half_ulp, 1e-3));
    }
  }
}
