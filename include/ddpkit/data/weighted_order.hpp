#pragma once

#include <span>
#include <vector>

#include "ddpkit/data/order.hpp"

namespace ddpkit {

/// Samples drawn with replacement, each with a probability proportional to its weight, as many per epoch as there are weights.
/// Each position is drawn from (seed, epoch, position) through an alias table (Vose 1991): O(1) time, 16 bytes a sample.
class WeightedOrder final : public Order {
 public:
  /// One weight per sample. Throws DataError when one is negative or not finite, or when all are zero.
  WeightedOrder(std::span<const double> weights, std::uint64_t seed);

  std::int64_t size() const override { return static_cast<std::int64_t>(columns_.size()); }
  std::int64_t at(std::int64_t epoch, std::int64_t position) const override;

 private:
  struct Column {
    double keep = 1;  // probability of the column's own sample; the alias has the rest
    std::int64_t alias = 0;
  };
  std::vector<Column> columns_;
  std::uint64_t seed_;
};

}  // namespace ddpkit
