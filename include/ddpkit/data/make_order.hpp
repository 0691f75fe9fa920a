#pragma once

#include <memory>
#include <vector>

#include "ddpkit/data/data_options.hpp"
#include "ddpkit/data/order.hpp"

namespace ddpkit {

/// What makes an order.
struct OrderOptions {
  OrderKind kind = OrderKind::shuffle;
  std::uint64_t seed = 0;
  std::int64_t block = 1024;      ///< samples in one run of OrderKind::blocks
  std::vector<double> weights{};  ///< one per sample, for OrderKind::weighted, which no file can give
};

/// The order of a data set of `size` samples. Throws ConfigError when the kind lacks what it needs.
std::unique_ptr<Order> make_order(std::int64_t size, const OrderOptions& options);

}  // namespace ddpkit
