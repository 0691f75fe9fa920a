#include "ddpkit/tensor/named_tensor.hpp"

#include <unordered_set>

namespace ddpkit {

std::vector<NamedTensor> without_repeats(std::vector<NamedTensor> items) {
  std::unordered_set<const void*> seen;
  std::erase_if(items, [&](const NamedTensor& item) { return !seen.insert(item.tensor.unsafeGetTensorImpl()).second; });
  return items;
}

}  // namespace ddpkit
