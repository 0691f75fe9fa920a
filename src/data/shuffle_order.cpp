#include "ddpkit/data/shuffle_order.hpp"

#include "ddpkit/base/random.hpp"
#include "ddpkit/data/keyed_permutation.hpp"

namespace ddpkit {

std::int64_t ShuffleOrder::at(std::int64_t epoch, std::int64_t position) const {
  return KeyedPermutation(size_, random_key({seed_, static_cast<std::uint64_t>(epoch)})).at(position);
}

}  // namespace ddpkit
