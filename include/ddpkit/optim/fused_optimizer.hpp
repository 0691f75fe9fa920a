#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ddpkit/optim/group_plan.hpp"
#include "ddpkit/optim/optimizer.hpp"

namespace ddpkit {

/// An optimizer over LibTorch's fused kernels: one call for all tensors of equal hyperparameters, type and device.
/// Derived classes name their state and make the call; the rest is here.
class FusedOptimizer : public Optimizer {
 public:
  /// Replaces the list of parameters: newly made ones join, replaced ones are followed, others leave. A parameter keeps its
  /// state when one of the same name, shape, strides, type and device was there before. Groups are planned anew. A tensor
  /// listed twice (tied weights) counts once, under its first name. Throws UsageError for a name given twice or a tensor that
  /// is not dense (its strides may be permuted), ConfigError as plan_groups does.
  void set_parameters(std::vector<NamedTensor> parameters);

  void prepare() final;
  double step(const UpdateContext& context) final;
  void zero_grad() final;
  std::vector<NamedTensor> state() final;
  void load_state(std::span<const NamedTensor> state) final;
  std::int64_t updates() const noexcept final { return updates_; }

 protected:
  /// Arguments of one kernel call; every list has the same order.
  struct Pass {
    std::vector<at::Tensor> parameters;
    std::vector<at::Tensor> gradients;
    std::vector<at::Tensor> steps;                 ///< updates of each parameter, this one included
    std::vector<std::vector<at::Tensor>> moments;  ///< one list per name of state
    double lr = 0;
    double weight_decay = 0;
    bool first_update = false;          ///< no parameter of this pass was updated before
    double grad_scale = 1;              ///< what is left to multiply gradients by
    std::optional<at::Tensor> divisor;  ///< 1 / grad_scale as kernels take it, one float32 value; none for 1
  };

  FusedOptimizer(std::vector<NamedTensor> parameters, const OptimizerOptions& options, std::vector<std::string> moment_names);
  const OptimizerOptions& options() const noexcept { return options_; }

 private:
  struct SlotState {
    std::vector<at::Tensor> moments;
    at::Tensor step;  // the slot's `updates` where kernels read it: float32, on the parameter's device
  };
  struct Slot {
    std::string name;
    at::Tensor parameter;
    std::size_t group = 0;
    std::int64_t updates = 0;
    std::optional<SlotState> state;
  };
  struct PlannedPass : Pass {
    std::size_t group = 0;
    std::vector<Slot*> slots;
  };

  virtual void run(const Pass& pass) = 0;

  SlotState make_state(const at::Tensor& parameter) const;
  at::Tensor scale_like(const at::Tensor& parameter);
  std::vector<at::Tensor> defined_gradients() const;
  std::vector<PlannedPass> plan_passes(const UpdateContext& context);
  PlannedPass& pass_for(std::vector<PlannedPass>& passes, const Slot& slot, const UpdateContext& context) const;
  void set_scale(PlannedPass& pass, double grad_scale);
  static void count_updates(PlannedPass& pass);
  std::vector<NamedTensor> named_state(const Slot& slot) const;

  OptimizerOptions options_;
  std::vector<std::string> moment_names_;
  std::vector<Slot> slots_;
  std::vector<GroupPlan> groups_;
  std::vector<at::Tensor> scales_;  // one value each, one tensor per device and type
  std::int64_t updates_ = 0;
};

}  // namespace ddpkit
