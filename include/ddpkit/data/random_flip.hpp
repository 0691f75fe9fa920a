#pragma once

#include "ddpkit/data/transform.hpp"

namespace ddpkit {

/// Mirrors every other image, by chance, left to right.
class RandomFlip final : public Transform {
 public:
  void check(std::span<const std::int64_t> shape) const override;
  void apply(std::span<float> sample, std::span<const std::int64_t> shape, CounterRandom& random) const override;
};

}  // namespace ddpkit
