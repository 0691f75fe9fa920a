#pragma once

#include "ddpkit/data/transform.hpp"

namespace ddpkit {

/// Pads an image by `padding` zeros on each side and cuts its own size out at a uniform place; all channels at the same one.
class RandomCrop final : public Transform {
 public:
  /// Throws ConfigError when `padding` is negative.
  explicit RandomCrop(std::int64_t padding);

  void check(std::span<const std::int64_t> shape) const override;
  void apply(std::span<float> sample, std::span<const std::int64_t> shape, CounterRandom& random) const override;

 private:
  std::int64_t padding_;
};

}  // namespace ddpkit
