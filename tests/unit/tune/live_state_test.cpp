#include "tune/live_state.hpp"

#include <torch/torch.h>

#include <cmath>

#include "support/catch.hpp"

using namespace ddpkit;

namespace {

torch::nn::Sequential model_with_everything() {
  torch::manual_seed(5);
  torch::nn::Sequential model(torch::nn::Linear(4, 6), torch::nn::BatchNorm1d(6), torch::nn::Dropout(0.5),
                              torch::nn::Linear(6, 2));
  model[1]->eval();  // as in fine-tuning
  return model;
}

/// What a few careless windows do.
void disturb(torch::nn::Sequential& model) {
  model->train();
  model->forward(torch::randn({8, 4})).sum().backward();
  const torch::NoGradGuard no_graph;
  for (const auto& parameter : model->parameters()) parameter.add_(std::nan(""));
}

}  // namespace

TEST_CASE("parameters, buffers, gradients, modes and generator come back bit for bit") {
  torch::nn::Sequential model = model_with_everything();
  const torch::Tensor gradient = torch::randn({6, 4});
  model->parameters()[0].mutable_grad() = gradient.clone();
  std::vector<torch::Tensor> before;
  for (const NamedTensor& item : Model(model).weights()) before.push_back(item.tensor.detach().clone());
  const torch::Tensor generator = at::detail::getDefaultCPUGenerator().get_state();
  {
    const LiveState state(model, torch::kCPU);
    CHECK_FALSE(model->parameters()[0].grad().defined());
    disturb(model);
  }
  const std::vector<NamedTensor> after = Model(model).weights();
  for (std::size_t i = 0; i < before.size(); ++i) {
    CAPTURE(after[i].name);
    CHECK(torch::equal(after[i].tensor, before[i]));
  }
  CHECK(torch::equal(model->parameters()[0].grad(), gradient));
  CHECK_FALSE(model->parameters()[1].grad().defined());
  CHECK(torch::equal(at::detail::getDefaultCPUGenerator().get_state(), generator));
  CHECK_FALSE(model[1]->is_training());
  CHECK(model[0]->is_training());
}

TEST_CASE("weights alone can be put back between sizes") {
  torch::nn::Sequential model = model_with_everything();
  const torch::Tensor before = model->parameters()[0].detach().clone();
  LiveState state(model, torch::kCPU);
  disturb(model);
  state.restore_weights();
  CHECK(torch::equal(model->parameters()[0], before));
  CHECK(model->parameters()[0].requires_grad());
}

TEST_CASE("a buffer that was replaced by one of another shape gets its shape and values back") {
  torch::nn::Linear module(3, 2);
  module->register_buffer("history", torch::arange(4));
  {
    const LiveState state(Model(module.ptr()), torch::kCPU);
    module->named_buffers()["history"].set_data(torch::zeros({9}, torch::kLong));
  }
  CHECK(torch::equal(module->named_buffers()["history"], torch::arange(4)));
}

TEST_CASE("transposed, empty and 16-bit tensors keep strides, type and bits") {
  const torch::Tensor transposed = torch::randn({3, 5}).t();
  const torch::Tensor again = HostCopy(transposed).make();
  CHECK(torch::equal(again, transposed));
  CHECK(again.strides() == transposed.strides());
  CHECK(HostCopy(torch::empty({0, 3})).make().sizes() == torch::IntArrayRef({0, 3}));
  const torch::Tensor half = torch::randn({7}).to(torch::kBFloat16);
  CHECK(torch::equal(HostCopy(half).make(), half));
}
