#pragma once

#include <vector>

#include "ddpkit/optim/fused_optimizer.hpp"

namespace ddpkit {

/// Adam (Kingma and Ba 2015, algorithm 1) with weight decay added to the gradient, as torch::optim::Adam.
/// State: exp_avg, exp_avg_sq and step of each parameter.
class FusedAdam final : public FusedOptimizer {
 public:
  /// Throws ConfigError unless both betas are below 1.
  FusedAdam(std::vector<NamedTensor> parameters, const OptimizerOptions& options);

 private:
  void run(const Pass& pass) override;
};

}  // namespace ddpkit
