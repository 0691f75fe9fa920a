#pragma once

#include "ddpkit/data/order.hpp"

namespace ddpkit {

/// Every sample once, in an order drawn from (seed, epoch). O(1) memory for any size: see KeyedPermutation.
class ShuffleOrder final : public Order {
 public:
  ShuffleOrder(std::int64_t size, std::uint64_t seed) noexcept : size_(size), seed_(seed) {}

  std::int64_t size() const override { return size_; }
  std::int64_t at(std::int64_t epoch, std::int64_t position) const override;

 private:
  std::int64_t size_;
  std::uint64_t seed_;
};

}  // namespace ddpkit
