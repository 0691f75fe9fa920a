#pragma once

#include <cstdint>
#include <memory>

#include "ddpkit/comm/memory.hpp"

namespace ddpkit::mpi {

/// One allocation of all ranks of a node: as many equal parts side by side as there are ranks, each rank's `data` being its
/// own.
class SharedBlock final : public Memory::Block {
 public:
  static constexpr std::size_t kAlignment = 4096;

  /// Bytes from one rank's part to the next one's.
  static constexpr std::size_t stride(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

  SharedBlock(std::shared_ptr<std::byte> memory, std::size_t bytes, std::size_t ranks, std::size_t mine, std::uint64_t block_id)
      : memory_(std::move(memory)) {
    for (std::size_t rank = 0; rank < ranks; ++rank) parts.push_back(memory_.get() + rank * stride(bytes));
    data = parts[mine];
    size = bytes;
    id = block_id;
  }

 private:
  std::shared_ptr<std::byte> memory_;
};

}  // namespace ddpkit::mpi
