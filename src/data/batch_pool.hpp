#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "ddpkit/data/host_batch.hpp"

namespace ddpkit {

/// A batch, and what gathering it needs.
struct BatchFrame {
  HostBatch batch;                     ///< its arrays lie in `block`
  std::shared_ptr<std::byte[]> block;  ///< aligned to 64, with the content it had before
  std::vector<std::byte*> columns;     ///< where each array begins
};

/// Recycles batches with all they hold: one that nobody holds any more is given out again. Thread-safe; batches may outlive
/// the pool.
class BatchPool {
 public:
  /// Where blocks come from.
  using Allocate = std::shared_ptr<std::byte[]> (*)(std::size_t bytes);
  explicit BatchPool(Allocate allocate) : allocate_(allocate) {}

  /// A frame with a block of `bytes`. Asking for another size forgets the blocks of the old one.
  std::shared_ptr<BatchFrame> take(std::size_t bytes);

  /// Blocks taken from the system so far. Stands still in the steady state.
  std::int64_t allocations() const;

 private:
  Allocate allocate_;
  mutable std::mutex mutex_;
  std::size_t block_bytes_ = 0;
  std::vector<std::shared_ptr<BatchFrame>> frames_;
  std::int64_t allocations_ = 0;
};

}  // namespace ddpkit
