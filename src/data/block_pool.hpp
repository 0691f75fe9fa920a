#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace ddpkit {

/// Recycles the memory of batches: blocks of one size, which come back when the last array in them is gone. Asking for another
/// size forgets the blocks of the old one. Thread-safe; blocks may outlive the pool.
class BlockPool {
 public:
  BlockPool();

  /// A block of `bytes`, aligned to 64, with the content it had before.
  std::shared_ptr<std::byte[]> take(std::size_t bytes);

  /// Blocks taken from the system so far. Stands still in the steady state.
  std::int64_t allocations() const;

 private:
  struct Shelf;
  std::shared_ptr<Shelf> shelf_;
};

}  // namespace ddpkit
