#pragma once

#include <cstdint>
#include <optional>

namespace ddpkit {

/// How far a run has come when a window starts. Equal on all ranks.
struct Progress {
  std::int64_t step = 0;          ///< windows finished before this one: 0 for the first
  std::int64_t samples = 0;       ///< samples consumed before this one, over all ranks
  double epoch = 0;               ///< epochs begun and the part of the present one that is done: 1.5 is half of the second
  std::int64_t global_batch = 0;  ///< samples that a full window has now, over all ranks

  /// The batch that the learning rate is scaled by, where that is not the one in force: a change of the batch that holds the
  /// rate leaves it as it was. May be a fraction, after changes of both kinds.
  std::optional<double> rate_batch{};
  /// The step that the learning rate is taken at, where that is not `step`: the place on a clock that ticks evenly in samples
  /// although the windows have several sizes.
  std::optional<std::int64_t> rate_step{};
};

}  // namespace ddpkit
