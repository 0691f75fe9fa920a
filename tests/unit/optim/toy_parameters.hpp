#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <string>
#include <vector>

#include "ddpkit/optim/optimizer.hpp"

namespace ddpkit::testing {

/// Named leaves with fixed random values: a matrix, a bias, a convolution's weight and a single number.
inline std::vector<NamedTensor> toy_parameters(at::ScalarType type = at::kFloat) {
  torch::manual_seed(11);
  std::vector<NamedTensor> parameters;
  const auto add = [&](const std::string& name, at::IntArrayRef shape) {
    parameters.push_back({name, torch::randn(shape, at::kDouble).to(type).requires_grad_(true)});
  };
  add("fc.weight", {7, 33});
  add("fc.bias", {7});
  add("conv.weight", {4, 3, 3, 3});
  add("gain", {});
  return parameters;
}

/// The same values again, as new leaves.
inline std::vector<NamedTensor> copies_of(const std::vector<NamedTensor>& parameters) {
  std::vector<NamedTensor> copies;
  for (const auto& [name, tensor] : parameters)
    copies.push_back({name, tensor.detach().clone().requires_grad_(tensor.requires_grad())});
  return copies;
}

inline std::vector<at::Tensor> tensors_of(const std::vector<NamedTensor>& parameters) {
  std::vector<at::Tensor> tensors;
  for (const auto& named : parameters) tensors.push_back(named.tensor);
  return tensors;
}

/// A gradient that depends on the step and on the parameter, as a real one does.
inline at::Tensor toy_gradient(const at::Tensor& parameter, std::int64_t step) {
  const at::Tensor ramp = torch::arange(parameter.numel(), at::kDouble).reshape(parameter.sizes());
  const at::Tensor value = torch::sin(ramp * 0.7 + static_cast<double>(step)) + 0.3 * parameter.detach().to(at::kDouble);
  return torch::empty_like(parameter.detach()).copy_(value);
}

inline void set_toy_gradients(const std::vector<NamedTensor>& parameters, std::int64_t step) {
  for (const auto& named : parameters) named.tensor.mutable_grad() = toy_gradient(named.tensor, step);
}

/// Largest difference between two sets of tensors, as a fraction of the largest value or 1.
inline double distance(const std::vector<NamedTensor>& a, const std::vector<NamedTensor>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const at::Tensor left = a[i].tensor.detach().to(at::kDouble), right = b[i].tensor.detach().to(at::kDouble);
    const double scale = std::max(1.0, right.abs().max().item<double>());
    largest = std::max(largest, (left - right).abs().max().item<double>() / scale);
  }
  return largest;
}

inline bool same_bits(const std::vector<NamedTensor>& a, const std::vector<NamedTensor>& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!torch::equal(a[i].tensor, b[i].tensor)) return false;
  return a.size() == b.size();
}

}  // namespace ddpkit::testing
