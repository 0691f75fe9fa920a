#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ddpkit/optim/group_plan.hpp"
#include "ddpkit/optim/optimizer.hpp"
#include "ddpkit/reduce/grad_reducer.hpp"

namespace ddpkit {

/// Why ranks cannot share the update of these parameters; empty when they can.
std::string why_not_sharded(std::span<const NamedTensor> parameters);

/// SGD, Adam or AdamW, each element updated by one rank, which alone keeps its state: ZeRO's first stage (Rajbhandari et al.
/// 2019), but without sending anything where the ranks share memory. There the parameters lie in it, one copy for all ranks,
/// and each rank adds up and updates what it owns block by block, while that is in the cache. Elsewhere gradients are reduced
/// and parameters broadcast by their owners. The bits are those of replicated optimizers either way.
///
/// Nothing is written before every rank has finished its backward and the gradients are known to be finite: hooks and graphs of
/// higher order that read parameters during backward see what they would otherwise.
///
/// While it lives, programs may read parameters at will between two steps, but not write to them: see accept_parameters.
class ShardedOptimizer final : public Optimizer {
 public:
  /// Collective. Takes the parameters of `reducer`, which must outlive it, and should deliver them as_is; their values have to
  /// be equal on all ranks. Throws ConfigError as plan_groups and moment_names do, UsageError for what why_not_sharded tells.
  ShardedOptimizer(GradReducer& reducer, const OptimizerOptions& options);

  /// Not collective. Parameters get memory of their own again.
  ~ShardedOptimizer() override;

  /// Allocates nothing. Throws UsageError, naming the parameter, when a program has written to one that the ranks share.
  void prepare() override;

  /// Collective.
  double step(const UpdateContext& context) override;
  void zero_grad() override;

  void accept_parameters() override;

  /// Collective. Whole tensors on every rank, under the names that replicated optimizers use, whatever the number of ranks.
  std::vector<NamedTensor> state() override;

  /// Collective, the same state on every rank.
  void load_state(std::span<const NamedTensor> state) override;
  std::int64_t updates() const noexcept override { return updates_; }

  /// Of this rank's part of the state.
  std::size_t state_bytes() const noexcept;

 private:
  struct Ground;  // who owns what, and where it lies
  struct Slot {
    NamedTensor parameter;
    std::size_t group = 0;
    std::int64_t updates = 0;
    bool has_state = false;
  };

  void lay_out(std::span<const NamedTensor> moments);
  void take_state(std::span<const NamedTensor> moments);
  std::vector<NamedTensor> moments() const;
  void find_gradients();
  double look(const UpdateContext& context);
  void update(const UpdateContext& context, double scale);

  GradReducer& reducer_;
  Communicator& comm_;
  OptimizerOptions options_;
  std::vector<std::string> moment_names_;
  std::vector<GroupPlan> groups_;
  std::vector<Slot> slots_;  // as the reducer's parameters
  std::unique_ptr<Ground> ground_;
  int plans_ = 0;  // of the reducer, when the ground was laid out
  std::int64_t updates_ = 0;
};

}  // namespace ddpkit
