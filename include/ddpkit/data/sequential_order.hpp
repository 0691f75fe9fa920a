#pragma once

#include "ddpkit/data/order.hpp"

namespace ddpkit {

/// Every sample once, as they lie in the data set, in every epoch.
class SequentialOrder final : public Order {
 public:
  explicit SequentialOrder(std::int64_t size) noexcept : size_(size) {}

  std::int64_t size() const override { return size_; }
  std::int64_t at(std::int64_t, std::int64_t position) const override { return position; }

 private:
  std::int64_t size_;
};

}  // namespace ddpkit
