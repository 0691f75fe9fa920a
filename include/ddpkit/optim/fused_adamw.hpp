#pragma once

#include <vector>

#include "ddpkit/optim/fused_optimizer.hpp"

namespace ddpkit {

/// Adam with decoupled weight decay (Loshchilov and Hutter 2019, algorithm 2), as torch::optim::AdamW: parameters shrink by
/// lr * weight_decay. State as FusedAdam's.
class FusedAdamW final : public FusedOptimizer {
 public:
  /// Throws ConfigError unless both betas are below 1.
  FusedAdamW(std::vector<NamedTensor> parameters, const OptimizerOptions& options);

 private:
  void run(const Pass& pass) override;
};

}  // namespace ddpkit
