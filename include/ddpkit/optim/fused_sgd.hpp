#pragma once

#include <vector>

#include "ddpkit/optim/fused_optimizer.hpp"

namespace ddpkit {

/// Stochastic gradient descent as torch::optim::SGD computes it: weight decay added to the gradient, then momentum with
/// dampening, optionally Nesterov's. A parameter's first update sets its momentum buffer to the gradient, undampened.
/// State: momentum_buffer and step of each parameter, nothing when momentum is 0.
class FusedSgd final : public FusedOptimizer {
 public:
  /// Throws ConfigError when Nesterov's momentum is asked for without momentum or with dampening.
  FusedSgd(std::vector<NamedTensor> parameters, const OptimizerOptions& options);

 private:
  void run(const Pass& pass) override;
  void run_narrow(const Pass& pass) const;
};

}  // namespace ddpkit
