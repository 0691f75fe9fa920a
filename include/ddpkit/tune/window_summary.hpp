#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ddpkit/batch/batch_plan.hpp"
#include "ddpkit/batch/batch_profile.hpp"
#include "ddpkit/tune/estimate.hpp"
#include "ddpkit/tune/window_reading.hpp"

namespace ddpkit {

/// Seconds of one window by phase: of the slowest rank, except `reduce`, which is of the rank that waited least. That one came
/// last, so it waited for the network alone; the others' waiting for it is in its own phases already.
struct PhaseSeconds {
  double data = 0;
  double forward = 0;
  double backward = 0;
  double reduce = 0;
  double update = 0;
};

/// Bytes at the peak of each phase, on the rank where it was highest.
struct PhasePeaks {
  std::int64_t forward = 0;
  std::int64_t backward = 0;
  std::int64_t optimizer = 0;
};

/// What a rank had at most, and might have had.
struct RankMemory {
  std::int64_t peak = 0;
  std::int64_t limit = 0;
};

/// Several windows of one plan, as medians over the windows.
struct WindowSummary {
  BatchPlan plan;
  std::int64_t windows = 0;
  Estimate step;   ///< seconds of a window on the slowest rank
  Estimate micro;  ///< seconds of forward and backward of one micro-batch on the slowest rank
  PhaseSeconds phases;
  double utilisation = 0;          ///< mean over ranks: of an accelerator as it tells, else 1 - the two shares
  double data_share = 0;           ///< mean over ranks of the part of the step that went by waiting for data
  double communication_share = 0;  ///< likewise for gradients
  PhasePeaks peaks;
  std::vector<RankMemory> memory;  ///< by rank
  std::int64_t growth = 0;         ///< bytes by which live memory grew from window to window, in each of them; 0: it did not

  double samples_per_second() const noexcept { return static_cast<double>(plan.global) / step.value; }  ///< over all ranks
  std::int64_t peak_bytes() const noexcept;                                                             ///< of the fullest rank
  std::int64_t limit_bytes() const noexcept;  ///< of the rank with the least; 0: none known

  /// As an entry of a profile. Of a single window, which has no interval, the half width is the value itself.
  MicroMeasurement measurement() const;
};

/// Pure. `windows` are at least one, all of them measured with `plan`.
WindowSummary summarise(const BatchPlan& plan, std::span<const WindowOutcome> windows);

}  // namespace ddpkit
