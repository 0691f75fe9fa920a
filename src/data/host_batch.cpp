#include "ddpkit/data/host_batch.hpp"

#include <algorithm>

namespace ddpkit {

const HostArray* HostBatch::find(std::string_view name) const noexcept {
  const auto found = std::find_if(arrays.begin(), arrays.end(), [&](const HostArray& array) { return array.name == name; });
  return found == arrays.end() ? nullptr : &*found;
}

}  // namespace ddpkit
