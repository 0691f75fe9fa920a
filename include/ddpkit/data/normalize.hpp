#pragma once

#include <vector>

#include "ddpkit/data/transform.hpp"

namespace ddpkit {

/// (x - mean[c]) / std[c] for each channel c, the first dimension of a sample. One value serves all channels.
class Normalize final : public Transform {
 public:
  /// Throws ConfigError unless both have the same length, at least 1, and every `std` is positive.
  Normalize(std::vector<double> mean, std::vector<double> std);

  void check(std::span<const std::int64_t> shape) const override;
  void apply(std::span<float> sample, std::span<const std::int64_t> shape, CounterRandom& random) const override;

 private:
  std::vector<float> mean_;
  std::vector<float> std_;
};

}  // namespace ddpkit
