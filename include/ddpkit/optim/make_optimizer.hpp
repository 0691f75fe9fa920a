#pragma once

#include <memory>
#include <vector>

#include "ddpkit/optim/fused_optimizer.hpp"
#include "ddpkit/reduce/grad_reducer.hpp"

namespace ddpkit {

/// The optimizer that `options.name` asks for, over all of `parameters`; frozen ones cost nothing until they get a gradient.
/// Throws ConfigError as its constructor and plan_groups do. Every rank updates its own copy, whatever `options.placement`
/// says: sharing the work takes a reducer.
std::unique_ptr<FusedOptimizer> make_optimizer(std::vector<NamedTensor> parameters, const OptimizerOptions& options);

/// The optimizer that `options.name` and `options.placement` ask for, over what `reducer` reduces. Collective where sharded.
/// `reducer` must outlive it, and deliver as `delivery_for` says.
std::unique_ptr<Optimizer> make_optimizer(GradReducer& reducer, const OptimizerOptions& options);

/// What an optimizer of this placement works best with.
constexpr Delivery delivery_for(UpdatePlacement placement) {
  return placement == UpdatePlacement::sharded ? Delivery::as_is : Delivery::reduced;
}

}  // namespace ddpkit
