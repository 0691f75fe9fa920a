#include "ddpkit/optim/make_optimizer.hpp"

#include <utility>

#include "ddpkit/optim/sharded_optimizer.hpp"

namespace ddpkit {

std::unique_ptr<FusedOptimizer> make_optimizer(std::vector<NamedTensor> parameters, const OptimizerOptions& options) {
  return std::make_unique<FusedOptimizer>(std::move(parameters), options);
}

std::unique_ptr<Optimizer> make_optimizer(GradReducer& reducer, const OptimizerOptions& options) {
  if (options.placement == UpdatePlacement::sharded) return std::make_unique<ShardedOptimizer>(reducer, options);
  return make_optimizer(reducer.parameters(), options);
}

}  // namespace ddpkit
