#pragma once

#include <torch/nn.h>

namespace bench {

inline torch::nn::Sequential small_model() {
  namespace nn = torch::nn;
  return nn::Sequential(nn::Linear(784, 64), nn::ReLU(), nn::Linear(64, 10));
}

inline at::Tensor small_loss(torch::nn::Sequential& model, const at::Tensor& input, const at::Tensor& target) {
  return torch::nn::functional::cross_entropy(model->forward(input), target);
}

}  // namespace bench
