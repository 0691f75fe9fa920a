#include "ddpkit/data/make_order.hpp"

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/data/blocks_order.hpp"
#include "ddpkit/data/sequential_order.hpp"
#include "ddpkit/data/shuffle_order.hpp"
#include "ddpkit/data/weighted_order.hpp"

namespace ddpkit {
namespace {

std::unique_ptr<Order> make_weighted(std::int64_t size, const OrderOptions& options) {
  if (static_cast<std::int64_t>(options.weights.size()) != size)
    throw ConfigError(text("data.order: weighted needs one weight for each of ", size, " samples, got ", options.weights.size(),
                           "; the program passes them to Trainer::set_sample_weights or in OrderOptions::weights"));
  return std::make_unique<WeightedOrder>(options.weights, options.seed);
}

}  // namespace

std::unique_ptr<Order> make_order(std::int64_t size, const OrderOptions& options) {
  switch (options.kind) {
    case OrderKind::sequential: return std::make_unique<SequentialOrder>(size);
    case OrderKind::blocks: return std::make_unique<BlocksOrder>(size, options.block, options.seed);
    case OrderKind::weighted: return make_weighted(size, options);
    case OrderKind::shuffle: break;
  }
  return std::make_unique<ShuffleOrder>(size, options.seed);
}

}  // namespace ddpkit
