#pragma once

#include <memory>
#include <vector>

#include "ddpkit/optim/fused_optimizer.hpp"

namespace ddpkit {

/// The optimizer that `options.name` asks for, over all of `parameters`; frozen ones cost nothing until they get a gradient.
/// Throws ConfigError as its constructor and plan_groups do.
std::unique_ptr<FusedOptimizer> make_optimizer(std::vector<NamedTensor> parameters, const OptimizerOptions& options);

}  // namespace ddpkit
