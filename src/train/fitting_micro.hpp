#pragma once

#include <cstdint>

namespace ddpkit {

/// What a run has learned about its memory, for the one that goes on from it.
struct FittingMicro {
  std::int64_t planned = 0;  ///< micro-batch that the configuration asked for
  std::int64_t fits = 0;
};

}  // namespace ddpkit
