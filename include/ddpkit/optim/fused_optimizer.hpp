#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ddpkit/optim/group_plan.hpp"
#include "ddpkit/optim/optimizer.hpp"

namespace ddpkit {

class UpdateBatches;

/// SGD, Adam or AdamW as torch::optim computes them, in one pass over parameters, gradients and state for all tensors of equal
/// hyperparameters, type and device: scaling, clipping and decay are part of it. A parameter's first update sets its momentum
/// buffer to the gradient, undampened. float32, float64, float16 and bfloat16, the last two computed in float32 and rounded
/// once. On CPUs it runs on LibTorch's threads and allocates nothing in a step like the one before; a result's bits depend
/// neither on the number of threads nor on the processor. CUDA parameters need a program that links ddpkit::cuda.
/// State: momentum_buffer and step of each parameter, nothing for SGD without momentum; exp_avg, exp_avg_sq and step for the
/// other two.
class FusedOptimizer final : public Optimizer {
 public:
  /// Throws what set_parameters does, and ConfigError for settings that contradict each other: Nesterov's momentum without
  /// momentum or with dampening, a beta of 1.
  FusedOptimizer(std::vector<NamedTensor> parameters, const OptimizerOptions& options);
  ~FusedOptimizer() override;

  /// Replaces the list of parameters: newly made ones join, replaced ones are followed, others leave. A parameter keeps its
  /// state when one of the same name, shape, strides, type and device was there before. Groups are planned anew. A tensor
  /// listed twice (tied weights) counts once, under its first name. Throws UsageError for a name given twice or a tensor that
  /// is not dense (its strides may be permuted), ConfigError as plan_groups does.
  void set_parameters(std::vector<NamedTensor> parameters);

  void prepare() override;
  double step(const UpdateContext& context) override;
  void zero_grad() override;
  std::vector<NamedTensor> state() override;
  void load_state(std::span<const NamedTensor> state) override;
  std::int64_t updates() const noexcept override { return updates_; }

 private:
  struct SlotState {
    std::vector<at::Tensor> moments;
    at::Tensor step;  // the slot's `updates` as checkpoints have it: float32
  };
  struct Slot {
    std::string name;
    at::Tensor parameter;
    std::size_t group = 0;
    std::int64_t updates = 0;
    std::optional<SlotState> state;
  };

  SlotState make_state(const at::Tensor& parameter) const;
  double gather(std::vector<at::Tensor>& reordered);
  void add_to_batch(const Slot& slot, const at::Tensor& gradient);
  void count_updates();
  std::vector<NamedTensor> named_state(const Slot& slot) const;

  OptimizerOptions options_;
  std::vector<std::string> moment_names_;
  std::vector<Slot> slots_;
  std::vector<GroupPlan> groups_;
  std::unique_ptr<UpdateBatches> batches_;
  std::int64_t updates_ = 0;
};

}  // namespace ddpkit
