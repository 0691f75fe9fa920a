#include "ddpkit/data/blocks_order.hpp"

#include <algorithm>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/random.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/data/keyed_permutation.hpp"

namespace ddpkit {
namespace {

std::int64_t blocks_in(std::int64_t size, std::int64_t block) {
  if (block < 1) throw ConfigError(text("data.block: expected at least 1 sample, got ", block));
  return size / block + (size % block != 0 ? 1 : 0);
}

}  // namespace

BlocksOrder::BlocksOrder(std::int64_t size, std::int64_t block, std::uint64_t seed)
    : size_(size), block_(block), blocks_(blocks_in(size, block)), seed_(seed) {}

std::int64_t BlocksOrder::at(std::int64_t epoch, std::int64_t position) const {
  const auto epoch_key = static_cast<std::uint64_t>(epoch);
  const KeyedPermutation block_order(blocks_, random_key({seed_, epoch_key}));
  // All that comes after the short block stands `missing` positions earlier than in a world of whole blocks.
  const std::int64_t missing = blocks_ * block_ - size_;
  const std::int64_t short_end = (block_order.inverse(blocks_ - 1) + 1) * block_ - missing;
  const std::int64_t whole_position = position < short_end ? position : position + missing;
  const std::int64_t block = block_order.at(whole_position / block_);
  const std::int64_t length = std::min(block_, size_ - block * block_);
  const KeyedPermutation inside(length, random_key({seed_, epoch_key, static_cast<std::uint64_t>(block)}));
  return block * block_ + inside.at(whole_position % block_);
}

}  // namespace ddpkit
