#pragma once

#include <string>

#include "ddpkit/tune/window_summary.hpp"
#include "tune/trial_windows.hpp"

namespace ddpkit {

/// When the windows of one size are enough.
struct MeasureLimits {
  double precision = 0.03;  ///< half width of the interval of the micro-batch's time, as a part of it
  std::int64_t warmup = 2;  ///< windows before those that count
  std::int64_t fewest = 6;  ///< windows that make a measurement: with fewer an interval says little
  double seconds = 0;       ///< for this size, once the fewest windows are there
  double deadline = 0;      ///< when the whole search ends, in seconds since it began
};

/// What came of one size. Equal on all ranks.
struct SizeTrial {
  enum class End {
    measured,
    out_of_memory,
    out_of_time,  ///< the search's time was over before the fewest windows that make a measurement
  };

  End end = End::measured;
  WindowSummary summary;
  std::string account;          ///< out_of_memory: who, where, with what
  std::int64_t not_finite = 0;  ///< windows whose loss or gradient was not finite
  double elapsed_seconds = 0;   ///< since the search began
};

/// Measures windows of `plan` until the interval is narrow or the time is over. Collective.
SizeTrial measure_size(TrialWindows& windows, const BatchPlan& plan, const MeasureLimits& limits);

}  // namespace ddpkit
