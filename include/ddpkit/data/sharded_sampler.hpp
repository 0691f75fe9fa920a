#pragma once

#include <cstdint>

#include "ddpkit/data/data_options.hpp"
#include "ddpkit/data/phase.hpp"
#include "ddpkit/data/sampler_state.hpp"
#include "ddpkit/data/window.hpp"

namespace ddpkit {

struct SamplerOptions {
  std::int64_t global = 0;  ///< samples of a full window, over all ranks; a multiple of the world size
  Tail tail = Tail::drop;
  Phase phase = Phase::train;
  int rank = 0;
  int world_size = 1;
};

/// Positions [begin, end) of an epoch's order.
struct PositionRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  std::int64_t size() const noexcept { return end - begin; }
  friend bool operator==(const PositionRange&, const PositionRange&) = default;
};

/// Cuts an epoch into windows and a window into what each rank and micro-batch takes. Pure; the world size never enters the
/// windows themselves, so a run sees the same windows on 1, 2 or 8 ranks.
///
/// A rank takes the contiguous positions [m*r/W, m*(r+1)/W) of a window with m samples, so shares differ by one row at most.
/// The samples that do not fill the last window of an epoch are, by Tail:
/// - drop: left out of this epoch. Another epoch's order leaves out others.
/// - pad: a window that has the micro-batches of a full one. Repeats would have weight 0, so they are not even read: the last
///   rows, and perhaps micro-batches, of each rank are simply missing. All windows of a run have the same shape in time.
/// - partial: a window with only as many micro-batches as its samples need.
/// In both only real rows count, and each exactly once: the update is the mean over `samples()` rows.
class ShardedSampler {
 public:
  /// Throws ConfigError when `global` is no positive multiple of the world size (naming the nearest ones), and DataError when
  /// an epoch of `samples` would have no window, or fewer samples than ranks in training.
  ShardedSampler(std::int64_t samples, const SamplerOptions& options);

  std::int64_t samples() const noexcept { return samples_; }
  const SamplerOptions& options() const noexcept { return options_; }

  /// Windows in an epoch that is read from its first position.
  std::int64_t windows_per_epoch() const noexcept { return windows_from(0); }
  /// Windows between `position` and the end of its epoch.
  std::int64_t windows_from(std::int64_t position) const noexcept;

  /// The `index`-th window of an epoch that is read from its first position.
  WindowRange window(std::int64_t epoch, std::int64_t index) const noexcept;

  /// The window that begins where `state` stands: the next `global` positions, whatever global batch came before, or the first
  /// of the next epoch when this one is used up. Its index is counted in windows of the present size.
  WindowRange next(const SamplerState& state) const noexcept;

  /// Where a run stands once `window` is done.
  SamplerState after(const WindowRange& window) const noexcept { return {window.epoch, window.end, options_.global}; }

  /// Rows that a rank gets in `window` at most: Window::local_batch().
  std::int64_t local_batch(const WindowRange& window) const noexcept;

  /// This rank's share of `window`.
  PositionRange share(const WindowRange& window) const noexcept;

  /// The part of the share in its `micro_index`-th micro-batch of `micro` rows; empty where the share is used up.
  PositionRange rows(const WindowRange& window, std::int64_t micro, std::int64_t micro_index) const noexcept;

 private:
  std::int64_t samples_;
  SamplerOptions options_;
};

}  // namespace ddpkit
