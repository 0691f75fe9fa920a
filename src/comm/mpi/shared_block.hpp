#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "ddpkit/comm/memory.hpp"

namespace ddpkit::mpi {

/// One allocation of all ranks of a node: as many equal parts side by side as there are ranks, each rank's `data` being its
/// own.
class SharedBlock final : public Memory::Block {
 public:
  static constexpr std::size_t kAlignment = 4096;

  /// Bytes from one rank's part to the next one's.
  static constexpr std::size_t stride(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

  struct Shape {
    std::size_t bytes = 0;
    std::size_t ranks = 1;
    std::size_t mine = 0;
    std::uint64_t id = 0;
  };

  /// `group` is what the ranks that allocated it have in common: see NodeEngine::group.
  SharedBlock(std::shared_ptr<std::byte> memory, const Shape& shape, std::shared_ptr<const void> group)
      : memory_(std::move(memory)), group_(std::move(group)) {
    for (std::size_t rank = 0; rank < shape.ranks; ++rank) parts.push_back(memory_.get() + rank * stride(shape.bytes));
    data = parts[shape.mine];
    size = shape.bytes;
    id = shape.id;
  }

  const void* group() const noexcept { return group_.get(); }

 private:
  std::shared_ptr<std::byte> memory_;
  std::shared_ptr<const void> group_;  // held, so that no other group is ever found at its address
};

}  // namespace ddpkit::mpi
