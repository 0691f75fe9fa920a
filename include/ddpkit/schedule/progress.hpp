#pragma once

#include <cstdint>

namespace ddpkit {

/// How far a run has come when a window starts. Equal on all ranks.
struct Progress {
  std::int64_t step = 0;          ///< windows finished before this one: 0 for the first
  std::int64_t samples = 0;       ///< samples consumed before this one, over all ranks
  double epoch = 0;               ///< epochs begun and the part of the present one that is done: 1.5 is half of the second
  std::int64_t global_batch = 0;  ///< samples that a full window has now, over all ranks
};

}  // namespace ddpkit
