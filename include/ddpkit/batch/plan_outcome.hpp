#pragma once

#include <cstdint>
#include <optional>

#include "ddpkit/data/data_options.hpp"
#include "ddpkit/schedule/schedule_options.hpp"

namespace ddpkit {

/// The run that a batch is planned for, as far as it is known.
struct PlanTerms {
  std::int64_t dataset = 0;  ///< samples of an epoch; 0: not known
  Tail tail = Tail::drop;
  std::int64_t epochs = 1;
  std::int64_t steps = 0;      ///< of the whole run; 0: as many as the epochs give
  std::optional<double> lr{};  ///< before scaling
  ScheduleOptions schedule{};
};

/// What a global batch makes of a run. What is not known, for want of terms, is empty.
struct PlanOutcome {
  std::optional<double> lr;  ///< after scaling: the target of warm-up
  std::optional<std::int64_t> warmup_steps;
  std::optional<std::int64_t> steps_per_epoch;
  std::optional<std::int64_t> steps;    ///< of the whole run
  std::optional<std::int64_t> dropped;  ///< samples of an epoch that no step uses
  std::optional<std::int64_t> padded;   ///< repeated samples of an epoch, with weight 0
};

/// Pure. Throws ConfigError for a data set smaller than the batch where Tail::drop leaves nothing, for a warm-up longer than
/// the run, and as plan_schedule for a rate or a schedule that makes no sense.
PlanOutcome outcome_of(std::int64_t global, const PlanTerms& terms);

}  // namespace ddpkit
