#pragma once

#include <cstdint>
#include <span>

#include "ddpkit/base/random.hpp"

namespace ddpkit {

/// Changes one sample's input in place, after it was gathered. Thread-safe: the loader calls it from its own threads.
class Transform {
 public:
  virtual ~Transform() = default;

  /// Throws ConfigError when samples of this shape ({channels, height, width} for images) cannot be changed so.
  virtual void check(std::span<const std::int64_t> shape) const = 0;

  /// `random` was made from (seed, epoch, sample, place in the chain), so the result does not depend on rank, batch or history.
  virtual void apply(std::span<float> sample, std::span<const std::int64_t> shape, CounterRandom& random) const = 0;
};

}  // namespace ddpkit
