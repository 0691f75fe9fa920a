#include "training/fused_update.hpp"

#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/_fused_sgd.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <optional>

namespace bench {

FusedUpdate::FusedUpdate(std::vector<at::Tensor> parameters, const StepCase& step_case)
    : case_(step_case), parameters_(std::move(parameters)) {
  for (at::Tensor& parameter : parameters_) {
    parameter = parameter.detach();  // shares the elements; the kernels refuse what records a graph
    averages_.push_back(at::zeros_like(parameter));
    squares_.push_back(at::zeros_like(parameter));
    steps_.push_back(at::zeros({}));
  }
}

double FusedUpdate::with_clipping(const std::vector<at::Tensor>& gradients, double divisor) const {
  if (case_.clip_norm == 0) return divisor;
  const double norm = at::linalg_vector_norm(at::stack(at::_foreach_norm(gradients, 2))).item<double>() / divisor;
  return divisor * std::max(1.0, norm / case_.clip_norm);
}

void FusedUpdate::step(const std::vector<at::Tensor>& gradients, double divisor) {
  divisor = with_clipping(gradients, divisor);
  const std::optional<at::Tensor> scale = divisor == 1 ? std::nullopt : std::optional(at::scalar_tensor(divisor));
  if (case_.rule == StepCase::Rule::sgd) {
    at::_fused_sgd_(parameters_, gradients, averages_, /*weight_decay=*/0, kMomentum, case_.lr, /*dampening=*/0,
                    /*nesterov=*/false, /*maximize=*/false, first_, scale);
  } else {
    at::_foreach_add_(steps_, 1);
    at::_fused_adamw_(parameters_, gradients, averages_, squares_, {}, steps_, case_.lr, 0.9, 0.999, kWeightDecay, 1e-8,
                      /*amsgrad=*/false, /*maximize=*/false, scale);
  }
  first_ = false;
}

}  // namespace bench
