#pragma once

#include <cstdint>

namespace ddpkit {

/// Where a run stands in its data, independent of the world size. All that a checkpoint needs.
struct SamplerState {
  std::int64_t epoch = 0;
  std::int64_t position = 0;  ///< samples of the epoch's order already consumed, over all ranks
  std::int64_t global = 0;    ///< global batch of the last window; 0 before the first. The next window may have another

  friend bool operator==(const SamplerState&, const SamplerState&) = default;
};

}  // namespace ddpkit
