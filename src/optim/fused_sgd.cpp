#include "ddpkit/optim/fused_sgd.hpp"

#include <ATen/ops/_fused_sgd.h>

#include <utility>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"

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
  at::TensorList buffers;
  if (!pass.moments.empty()) buffers = pass.moments.front();
  at::_fused_sgd_(pass.parameters, pass.gradients, buffers, pass.weight_decay, options().momentum, pass.lr, options().dampening,
                  options().nesterov, /*maximize=*/false, pass.first_update, pass.divisor);
}

}  // namespace ddpkit
