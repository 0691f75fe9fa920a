#pragma once

#include <cstdint>
#include <memory>

#include "ddpkit/data/host_batch.hpp"

namespace ddpkit {

/// All micro-batches, on all ranks, that make one optimizer step: positions [begin, end) of an epoch's order.
struct WindowRange {
  std::int64_t epoch = 0;
  std::int64_t index = 0;   ///< number of the window in its epoch
  std::int64_t begin = 0;   ///< position of its first sample
  std::int64_t end = 0;     ///< position after its last sample; end - begin <= global
  std::int64_t global = 0;  ///< samples of a full window

  std::int64_t samples() const noexcept { return end - begin; }
};

/// This rank's share of a window: a lazy range of micro-batches. Every rank has the same number of them, some perhaps empty.
/// Movable, used from one thread.
class Window {
 public:
  /// Where the batches come from; the loader implements it.
  class Source {
   public:
    virtual ~Source() = default;
    /// Blocks until the batch is gathered. Rethrows what the data set threw.
    virtual std::shared_ptr<const HostBatch> fetch(const WindowRange& window, std::int64_t micro, std::int64_t micro_index) = 0;
  };

  /// Throws ConfigError when `micro` is not positive.
  Window(WindowRange range, std::int64_t local_batch, std::int64_t micro, std::shared_ptr<Source> source);

  const WindowRange& range() const noexcept { return range_; }
  /// Rows that a rank gets in this window at most; equal on all ranks, whatever this rank's real share. It is
  /// global / world size, except in a last window under Tail::partial, where it is ceil(samples / world size).
  std::int64_t local_batch() const noexcept { return local_batch_; }
  std::int64_t micro() const noexcept { return micro_; }
  /// Micro-batches of this rank = ceil(local_batch / micro); equal on all ranks.
  std::int64_t micro_batches() const noexcept { return (local_batch_ + micro_ - 1) / micro_; }

  /// The `index`-th micro-batch, which has no rows where this rank's share is used up. Blocks until it is gathered and
  /// rethrows what the data set threw. May be asked for again, as a retry of the window does. Its memory goes back to the
  /// loader when the last holder lets it go.
  std::shared_ptr<const HostBatch> fetch(std::int64_t index) const { return source_->fetch(range_, micro_, index); }

  /// The same window cut into micro-batches of another size. What was gathered ahead is dropped.
  Window recut(std::int64_t micro) const;

 private:
  WindowRange range_;
  std::int64_t local_batch_;
  std::int64_t micro_;
  std::shared_ptr<Source> source_;
};

}  // namespace ddpkit
