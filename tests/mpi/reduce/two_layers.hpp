#pragma once

#include <torch/torch.h>

#include "ddpkit/comm/communicator.hpp"
#include "ddpkit/reduce/reducer_options.hpp"

namespace ddpkit {

inline constexpr ReducerOptions kSmallBuckets{.tail_kib = 1};

struct TwoLayers : torch::nn::Module {
  TwoLayers() {
    first = register_module("first", torch::nn::Linear(4, 4));
    second = register_module("second", torch::nn::Linear(4, 4));
    torch::NoGradGuard no_graph;
    for (auto& parameter : parameters()) parameter.fill_(0.5);
  }
  torch::nn::Linear first{nullptr};
  torch::nn::Linear second{nullptr};
};

inline double mean_rank(const Communicator& comm) {
  return (comm.world_size() - 1) / 2.0;
}

/// d/dw of sum(w) x factor: the gradient is `factor` everywhere.
inline torch::Tensor constant_gradient(const torch::Tensor& w, double factor) {
  return w.sum() * factor;
}

inline bool all_equal(const torch::Tensor& tensor, double value) {
  return torch::allclose(tensor.to(torch::kDouble), torch::full(tensor.sizes(), value, torch::kDouble), 1e-6, 1e-6);
}

}  // namespace ddpkit
