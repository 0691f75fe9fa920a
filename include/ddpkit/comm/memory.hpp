#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ddpkit/comm/device.hpp"

namespace ddpkit {

/// A block of memory that a backend reduces fastest. Copies share it; the last one frees it, without a collective.
class Memory {
 public:
  /// What a backend allocates. `id` is equal on all ranks for one call of Communicator::allocate.
  class Block {
   public:
    virtual ~Block() = default;
    std::byte* data = nullptr;
    std::size_t size = 0;
    std::uint64_t id = 0;
    Device device;
    std::vector<std::byte*> parts;  ///< see Memory::parts
  };

  Memory() = default;
  explicit Memory(std::shared_ptr<Block> block) : block_(std::move(block)) {}

  explicit operator bool() const noexcept { return block_ != nullptr; }
  std::byte* data() const noexcept { return block_ ? block_->data : nullptr; }
  std::size_t size() const noexcept { return block_ ? block_->size : 0; }
  std::uint64_t id() const noexcept { return block_ ? block_->id : 0; }
  Device device() const noexcept { return block_ ? block_->device : Device{}; }
  /// Where the ranks of this node, in their order, have their `data` of the same allocation, mapped here: this rank may read
  /// and write all of them once the ranks have agreed on whose turn it is. Empty where they do not share memory.
  std::span<std::byte* const> parts() const noexcept {
    return block_ ? std::span<std::byte* const>(block_->parts) : std::span<std::byte* const>();
  }
  /// The parts as one run of bytes; empty where they do not lie side by side.
  std::span<std::byte> joined() const noexcept {
    const auto all = parts();
    for (std::size_t rank = 1; rank < all.size(); ++rank)
      if (all[rank] != all[rank - 1] + size()) return {};
    return all.empty() ? std::span<std::byte>() : std::span(all.front(), all.size() * size());
  }
  const std::shared_ptr<Block>& block() const noexcept { return block_; }

 private:
  std::shared_ptr<Block> block_;
};

}  // namespace ddpkit
