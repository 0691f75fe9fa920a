#pragma once

#include <string>

#include "ddpkit/batch/ladder.hpp"

namespace ddpkit {

/// One rank's account of a window for which its memory was not enough.
struct Shortage {
  MemoryPhase phase = MemoryPhase::none;  ///< none: this rank had enough
  std::string what{};                     ///< what the allocator said
};

}  // namespace ddpkit
