#include "ddpkit/optim/fused_sgd.hpp"

#include <ATen/ops/_fused_sgd.h>

#include <utility>

#include "optim/narrow_sgd.hpp"
#include "optim/update_rule.hpp"

namespace ddpkit {
FusedSgd::FusedSgd(std::vector<NamedTensor> parameters, const OptimizerOptions& options)
    : FusedOptimizer(std::move(parameters), options, moment_names(options)) {}

void FusedSgd::run(const Pass& pass) {
  const at::Tensor& sample = pass.parameters.front();
  if (sample.is_cpu() && sample.element_size() == 2) return run_narrow(pass);
  at::TensorList buffers;
  if (!pass.moments.empty()) buffers = pass.moments.front();
  at::_fused_sgd_(pass.parameters, pass.gradients, buffers, pass.weight_decay, options().momentum, pass.lr, options().dampening,
                  options().nesterov, /*maximize=*/false, pass.first_update, pass.divisor);
}

void FusedSgd::run_narrow(const Pass& pass) const {
  const SgdRule rule{.lr = static_cast<float>(pass.lr),
                     .weight_decay = static_cast<float>(pass.weight_decay),
                     .momentum = static_cast<float>(options().momentum),
                     .gradient_share = pass.first_update ? 1.0F : static_cast<float>(1 - options().dampening),
                     .nesterov = options().nesterov,
                     .grad_scale = static_cast<float>(pass.grad_scale)};
  for (std::size_t i = 0; i < pass.parameters.size(); ++i) {
    const at::Tensor buffer = pass.moments.empty() ? at::Tensor() : pass.moments.front()[i];
    narrow_sgd(pass.parameters[i], pass.gradients[i], buffer, rule);
    pass.parameters[i].unsafeGetTensorImpl()->bump_version();  // as an operator would, for graphs that saved the parameter
  }
}

}  // namespace ddpkit
