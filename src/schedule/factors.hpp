#pragma once

#include <cstdint>

#include "ddpkit/schedule/schedule_plan.hpp"

namespace ddpkit {

/// The rate at or before the peak as a factor of the target. `scale` is the target as a factor of the base rate.
double warmup_factor(const SchedulePlan& plan, std::int64_t step, double scale);

/// The rate after the peak as a factor of the target.
double decay_factor(const SchedulePlan& plan, std::int64_t step);

}  // namespace ddpkit
