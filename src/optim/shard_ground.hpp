#pragma once

#include <vector>

#include "ddpkit/optim/shard_plan.hpp"
#include "ddpkit/tensor/named_tensor.hpp"
#include "optim/norm_partials.hpp"
#include "optim/placed_parameters.hpp"
#include "optim/shard_pass.hpp"
#include "optim/shard_region.hpp"

namespace ddpkit {

/// Who updates what, and where it lies: parameters, one region for each name of state, partial norms.
class ShardGround {
 public:
  /// Collective. `comm` must outlive it.
  ShardGround(std::vector<NamedTensor> parameters, std::size_t moments, Communicator& comm);

  const ShardPlan& plan() const noexcept { return plan_; }
  std::span<const ShardBlock> own_blocks() const noexcept { return plan_.of(comm_.rank()); }
  PlacedParameters& parameters() noexcept { return parameters_; }
  NormPartials& partials() noexcept { return partials_; }

  /// Of one of this rank's blocks.
  BlockPlace place(const ShardBlock& block) const noexcept;

  /// Collective. The whole of moment `index` of every parameter, shaped like it. Shared where the ranks share it, else a copy.
  std::vector<at::Tensor> gather_moment(std::size_t index) const;

  /// Writes this rank's part of moment `index` of a parameter, from the whole.
  void set_moment(std::size_t index, std::size_t parameter, const at::Tensor& whole);

  /// What this rank allocated for moments.
  std::size_t state_bytes() const noexcept;

 private:
  const at::Tensor& tensor(std::size_t parameter) const { return tensors_[parameter]; }
  std::size_t offset_of(const ShardBlock& block) const noexcept;

  Communicator& comm_;
  std::vector<at::Tensor> tensors_;
  ShardPlan plan_;
  PlacedParameters parameters_;
  std::vector<ShardRegion> moments_;
  NormPartials partials_;
};

}  // namespace ddpkit
