#pragma once

#include <cstdint>
#include <vector>

#include "ddpkit/schedule/run_length.hpp"
#include "ddpkit/schedule/schedule_options.hpp"

namespace ddpkit {

/// Where warm-up starts.
enum class WarmupStart {
  first_step,  ///< at target / warm-up steps
  fraction,    ///< at a given factor of the target
  base_rate,   ///< at the rate before scaling (Goyal et al. 2017)
};

/// A schedule whose stretches are all in steps. Factors are relative to the target, which is the scaled base rate.
struct SchedulePlan {
  Scaling scaling = Scaling::none;
  std::int64_t reference_batch = 256;
  RunLength run;
  std::int64_t warmup_steps = 0;
  WarmupStart warmup_start = WarmupStart::first_step;
  double start_factor = 0;  ///< for WarmupStart::fraction
  Decay decay = Decay::constant;
  std::vector<std::int64_t> milestones;  ///< from the start of the run, ascending
  std::int64_t period = 0;
  double period_factor = 1;
  double gamma = 1;
  double power = 1;
  double final_factor = 0;

  /// The first step at the target: the last one of warm-up, or step 0.
  std::int64_t peak() const noexcept { return warmup_steps > 1 ? warmup_steps - 1 : 0; }

  /// Whether the decay ends at `final_factor` in the last step of the run.
  bool needs_end() const noexcept;
};

/// Applies the preset and resolves percentages and epochs. Pure. Throws ConfigError, with the figures, for a warm-up longer
/// than the run or one that leaves no step for the decay, a milestone inside it, and a missing period or milestone.
SchedulePlan plan_schedule(const ScheduleOptions& options, const RunLength& run);

}  // namespace ddpkit
