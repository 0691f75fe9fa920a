#pragma once

#include <vector>

#include "ddpkit/optim/optimizer.hpp"

namespace torch::optim {
class Optimizer;
}

namespace ddpkit {

/// Lets a torch::optim::Optimizer that the user already has take the place of a fused one. Three contracts are weaker, because
/// its own are: prepare() does nothing and the first step allocates state while it writes, so that
/// memory that runs out in it ends the job; state() is one opaque tensor, which
/// LibTorch reads back by position, so parameters must be registered in the order in which they were saved; and optimizers
/// whose step needs a closure (LBFGS) throw.
class TorchOptimizer final : public Optimizer {
 public:
  /// Borrows `optimizer`, which must outlive this. Each of its parameter groups keeps the ratio that its learning rate has to
  /// the optimizer's default now, or when it is added.
  explicit TorchOptimizer(torch::optim::Optimizer& optimizer);

  void prepare() override {}
  double step(const UpdateContext& context) override;
  void zero_grad() override;
  std::vector<NamedTensor> state() override;
  void load_state(std::span<const NamedTensor> state) override;
  std::int64_t updates() const noexcept override { return updates_; }

 private:
  void meet_new_groups();
  void set_lr(double lr);
  std::vector<at::Tensor> defined_gradients() const;

  torch::optim::Optimizer& optimizer_;
  double default_lr_;
  std::vector<double> lr_factors_;
  std::int64_t updates_ = 0;
};

}  // namespace ddpkit
