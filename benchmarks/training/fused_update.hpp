#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "training/step_case.hpp"

namespace bench {

/// LibTorch's own fused kernel over all parameters: the best that one process can do, without ddpkit.
class FusedUpdate {
 public:
  FusedUpdate(std::vector<at::Tensor> parameters, const StepCase& step_case);

  /// Gradients are divided by `divisor` in the same pass, and clipped as the case says.
  void step(const std::vector<at::Tensor>& gradients, double divisor = 1);

 private:
  double with_clipping(const std::vector<at::Tensor>& gradients, double divisor) const;

  StepCase case_;
  std::vector<at::Tensor> parameters_;
  std::vector<at::Tensor> averages_;
  std::vector<at::Tensor> squares_;
  std::vector<at::Tensor> steps_;
  bool first_ = true;
};

constexpr double kMomentum = 0.9;
constexpr double kWeightDecay = 0.01;

}  // namespace bench
