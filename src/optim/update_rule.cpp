#include "optim/update_rule.hpp"

#include <cmath>

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

std::vector<std::string> adam_moments(const OptimizerOptions& options) {
  if (options.beta1 >= 1 || options.beta2 >= 1)
    throw ConfigError(text("optimizer.beta1 and beta2 must be below 1; got ", options.beta1, " and ", options.beta2));
  return {"exp_avg", "exp_avg_sq"};
}

}  // namespace

std::vector<std::string> moment_names(const OptimizerOptions& options) {
  return options.name == OptimizerKind::sgd ? sgd_moments(options) : adam_moments(options);
}

UpdateRule make_rule(const OptimizerOptions& options, const GroupPlan& group, const UpdateContext& context, double grad_scale,
                     std::int64_t updates) {
  const auto count = static_cast<double>(updates);
  return {.kind = options.name,
          .lr = context.lr * group.lr_factor,
          .weight_decay = group.weight_decay,
          .grad_scale = grad_scale,
          .momentum = options.momentum,
          .gradient_share = updates == 1 ? 1 : 1 - options.dampening,
          .nesterov = options.nesterov,
          .beta1 = options.beta1,
          .beta2 = options.beta2,
          .eps = options.eps,
          .bias_correction1 = 1 - std::pow(options.beta1, count),
          .bias_correction2 = 1 - std::pow(options.beta2, count)};
}

}  // namespace ddpkit
