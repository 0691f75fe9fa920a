#pragma once

#include <span>
#include <vector>

#include "ddpkit/comm/communicator.hpp"
#include "ddpkit/optim/shard_plan.hpp"

namespace ddpkit {

/// The squared norm of every block of a plan, each written by the rank that owns the block.
class NormPartials {
 public:
  /// Collective. `comm` must outlive it.
  NormPartials(const ShardPlan& plan, Communicator& comm);

  /// Of this rank's blocks, in their order. To be written between two exchanges.
  std::span<double> own() const noexcept { return own_; }

  /// Collective: after it every rank has all of them. Also says that all ranks have come here.
  void exchange();

  /// Added up block by block: the same on all ranks, to the bit.
  double sum() const noexcept;

 private:
  Communicator& comm_;
  Memory memory_;
  std::vector<double> gathered_;  // where the ranks do not share memory
  std::span<double> own_;
  std::vector<std::span<const double>> of_rank_;
};

}  // namespace ddpkit
