#pragma once

#include <cstdint>
#include <string_view>

#include "ddpkit/base/quantity.hpp"

namespace ddpkit {

/// How long a run is, in optimizer steps.
struct RunLength {
  std::int64_t steps = 0;            ///< whole run; 0: not known, percentages of it are then 0
  std::int64_t steps_per_epoch = 0;  ///< one pass over the data; 0: not known
};

/// Steps in a stretch of training. Pure. Parts of a step round up: 5 % of 30 steps are 2, 0.1 epochs of 25 steps are 3.
/// `field` names the option in errors. Throws ConfigError for a negative amount, a part of a step, more than 100 %, or epochs
/// where `run.steps_per_epoch` is not known.
std::int64_t steps_in(const Extent& extent, const RunLength& run, std::string_view field);

}  // namespace ddpkit
