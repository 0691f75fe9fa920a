#pragma once

#include "ddpkit/data/order.hpp"

namespace ddpkit {

/// Every sample once: the order of the runs of `block` neighbouring samples is shuffled, and the samples inside each run, so
/// that an archive is read a run at a time. The last run may be shorter. O(1) memory.
class BlocksOrder final : public Order {
 public:
  /// Throws ConfigError unless `block` is positive.
  BlocksOrder(std::int64_t size, std::int64_t block, std::uint64_t seed);

  std::int64_t size() const override { return size_; }
  std::int64_t at(std::int64_t epoch, std::int64_t position) const override;

 private:
  std::int64_t size_;
  std::int64_t block_;
  std::int64_t blocks_;  // including a short last one
  std::uint64_t seed_;
};

}  // namespace ddpkit
