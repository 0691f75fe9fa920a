#include "ddpkit/optim/make_optimizer.hpp"

#include <utility>

#include "ddpkit/base/error.hpp"
#include "ddpkit/optim/fused_adam.hpp"
#include "ddpkit/optim/fused_adamw.hpp"
#include "ddpkit/optim/fused_sgd.hpp"

namespace ddpkit {

std::unique_ptr<FusedOptimizer> make_optimizer(std::vector<NamedTensor> parameters, const OptimizerOptions& options) {
  switch (options.name) {
    case OptimizerKind::sgd: return std::make_unique<FusedSgd>(std::move(parameters), options);
    case OptimizerKind::adam: return std::make_unique<FusedAdam>(std::move(parameters), options);
    case OptimizerKind::adamw: return std::make_unique<FusedAdamW>(std::move(parameters), options);
  }
  throw UsageError("optimizer.name holds no known value");
}

}  // namespace ddpkit
