#pragma once

#include <cstdint>
#include <tuple>

#include "ddpkit/data/sharded_sampler.hpp"
#include "ddpkit/data/window.hpp"

namespace ddpkit {

/// One micro-batch of one cut of a window.
struct BatchKey {
  WindowRange window;
  std::int64_t micro = 1;
  std::int64_t micro_index = 0;

  /// Order of use, within one cut.
  auto place() const noexcept { return std::tuple(window.epoch, window.begin, micro_index); }
  friend bool operator==(const BatchKey& a, const BatchKey& b) noexcept { return a.place() == b.place() && a.micro == b.micro; }
};

/// The micro-batch that is used after `key` when nobody retries or cuts again, across windows and epochs.
BatchKey following(const ShardedSampler& sampler, const BatchKey& key) noexcept;

}  // namespace ddpkit
