#pragma once

#include <torch/nn/modules/container/sequential.h>

#include <vector>

#include "training/step_case.hpp"

namespace bench {

/// A rank's model and its batch. Equal weights on all ranks, other data on each.
struct Replica {
  Replica(const StepCase& step_case, int rank);

  at::Tensor loss() { return loss_on(input, target); }
  at::Tensor loss_on(const at::Tensor& batch, const at::Tensor& labels);
  void forget_gradients() {
    for (at::Tensor& parameter : parameters) parameter.mutable_grad().reset();
  }
  std::vector<at::Tensor> gradients() const;

  torch::nn::Sequential model{nullptr};
  std::vector<at::Tensor> parameters;
  at::Tensor input;
  at::Tensor target;
};

}  // namespace bench
