#include "ddpkit/optim/fused_sgd.hpp"

#include <ATen/ops/_fused_sgd.h>

#include <utility>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"
#include "optim/narrow_sgd.hpp"

namespace ddpkit {
namespace {

std::vector<std::string> sgd_moments(const OptimizerOptions& options) {
  if (options.nesterov && (options.momentum == 0 || options.dampening != 0))
    throw ConfigError(text("optimizer.nesterov needs momentum above 0 and dampening 0; got momentum ", options.momentum,
                           " and dampening ", options.dampening));
  if (options.momentum == 0) return {};
  return {"momentum_buffer"};
}

}  // namespace

FusedSgd::FusedSgd(std::vector<NamedTensor> parameters, const OptimizerOptions& options)
    : FusedOptimizer(std::move(parameters), options, sgd_moments(options)) {}

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
