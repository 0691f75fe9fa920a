#include "ddpkit/optim/make_optimizer.hpp"

#include <utility>

namespace ddpkit {

std::unique_ptr<FusedOptimizer> make_optimizer(std::vector<NamedTensor> parameters, const OptimizerOptions& options) {
  return std::make_unique<FusedOptimizer>(std::move(parameters), options);
}

}  // namespace ddpkit
