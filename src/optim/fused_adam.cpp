#include "ddpkit/optim/fused_adam.hpp"

#include <ATen/ops/_fused_adam.h>

#include <utility>

#include "optim/update_rule.hpp"

namespace ddpkit {

FusedAdam::FusedAdam(std::vector<NamedTensor> parameters, const OptimizerOptions& options)
    : FusedOptimizer(std::move(parameters), options, moment_names(options)) {}

void FusedAdam::run(const Pass& pass) {
  at::_fused_adam_(pass.parameters, pass.gradients, pass.moments[0], pass.moments[1], /*max_exp_avg_sqs=*/{}, pass.steps,
                   pass.lr, options().beta1, options().beta2, pass.weight_decay, options().eps, /*amsgrad=*/false,
                   /*maximize=*/false, pass.divisor);
}

}  // namespace ddpkit
