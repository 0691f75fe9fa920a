#pragma once

#include <cstddef>
#include <memory>

#include "ddpkit/comm/communicator.hpp"
#include "ddpkit/optim/shard_plan.hpp"

namespace ddpkit {

/// Flat memory laid out as a ShardPlan says: one for all ranks where they share memory, else one of its own for each rank.
class ShardRegion {
 public:
  /// What a rank has of a region that is its own.
  enum class Holds { everything, own_run };

  /// Collective: every rank allocates its part of a shared region. Zeroed.
  ShardRegion(const ShardPlan& plan, Holds holds, Communicator& comm);

  /// Whether all ranks see one and the same.
  bool shared() const noexcept { return shared_; }

  /// `offset` as in the plan; one that this rank has.
  std::byte* at(std::size_t offset) const noexcept { return begin_ + (offset - first_); }

  /// What this rank allocated.
  std::size_t own_bytes() const noexcept { return memory_.size(); }

  /// Keeps the region mapped.
  const Memory& memory() const noexcept { return memory_; }

 private:
  Memory memory_;
  std::byte* begin_ = nullptr;
  std::size_t first_ = 0;  // the offset that lies there
  bool shared_ = false;
};

}  // namespace ddpkit
