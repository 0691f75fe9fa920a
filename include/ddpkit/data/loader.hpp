#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>

#include "ddpkit/base/quantity.hpp"
#include "ddpkit/data/dataset.hpp"
#include "ddpkit/data/host_array.hpp"
#include "ddpkit/data/loader_stats.hpp"
#include "ddpkit/data/order.hpp"
#include "ddpkit/data/sampler_state.hpp"
#include "ddpkit/data/sharded_sampler.hpp"
#include "ddpkit/data/transform_chain.hpp"
#include "ddpkit/data/window.hpp"
#include "ddpkit/data/window_iterator.hpp"

namespace ddpkit {

class BatchPool;
class Prefetcher;

struct LoaderOptions {
  SamplerOptions sampler{};     ///< global batch, tail, phase, rank and world size
  std::int64_t micro = 1;       ///< rows of a micro-batch
  TransformChain transforms{};  ///< applied to each sample after it is gathered
  Bytes prefetch = {64 << 20};  ///< memory for micro-batches gathered ahead of use: at least one, and 32 at most
  std::int64_t workers = 1;     ///< threads that gather them; 0: the consumer gathers each when it asks for it
  SamplerState start{};         ///< where to begin; its `global` may differ from the sampler's
  /// Where the memory of batches comes from: page-locked where they go on to a GPU.
  std::shared_ptr<std::byte[]> (*allocate)(std::size_t bytes) = &allocate_aligned;
};

/// Hands out the windows of one rank, one epoch after the other without end. Micro-batches are gathered ahead of use, across
/// the edges of windows and epochs, into memory that is reused once nobody holds the batch any more. Not collective: it never
/// talks to other ranks. Used from one thread, as are its windows; they may be fetched from only while the loader lives.
class Loader {
 public:
  /// `dataset` and `order` must outlive the loader. Throws ConfigError and DataError as ShardedSampler and
  /// TransformChain::check do, and DataError when `start` does not lie in the order.
  Loader(const Dataset& dataset, const Order& order, const LoaderOptions& options);
  ~Loader();  ///< waits for the gathers in progress
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  /// The next window; the first of the next epoch when this one is used up. Does not block: its batches are fetched later.
  Window next_window();

  /// Where the run stands once all windows handed out are done.
  const SamplerState& state() const noexcept { return state_; }
  const ShardedSampler& sampler() const noexcept { return sampler_; }
  std::int64_t micro() const noexcept { return options_.micro; }
  std::int64_t windows_per_epoch() const noexcept { return sampler_.windows_per_epoch(); }
  /// Windows of the present epoch that are still to come.
  std::int64_t windows_left() const noexcept { return sampler_.windows_from(state_.position); }

  /// `for (Window& window : loader)` runs through what is left of the present epoch, or the next one when nothing is left.
  WindowIterator begin() { return {*this, windows_left() > 0 ? windows_left() : windows_per_epoch()}; }
  std::default_sentinel_t end() const noexcept { return {}; }

  /// Cuts the windows that follow into other micro-batches.
  void set_micro(std::int64_t micro);
  /// The windows that follow have another size; no sample is lost or repeated. Windows handed out before become unusable.
  void set_global(std::int64_t global);
  /// Goes on from another place. Windows handed out before become unusable.
  void jump(const SamplerState& state);

  LoaderStats stats() const;

 private:
  void open();
  void close();

  const Dataset& dataset_;
  const Order& order_;
  LoaderOptions options_;
  ShardedSampler sampler_;
  SamplerState state_;
  LoaderStats closed_stats_;  // of the prefetchers before this one
  std::shared_ptr<BatchPool> pool_;
  std::shared_ptr<Prefetcher> prefetcher_;  // made by the first window
};

}  // namespace ddpkit
