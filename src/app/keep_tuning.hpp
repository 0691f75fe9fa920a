#pragma once

#include <string>

#include "ddpkit/app/job.hpp"
#include "ddpkit/batch/step_profile.hpp"
#include "ddpkit/tune/tune_batch.hpp"

namespace ddpkit {

/// Writes tune.json and tune.svg, and the batch into the run file where that was asked for. Called on rank 0, once all is
/// known. Throws StorageError, and ConfigError when the run file cannot be edited safely; it is then as it was.
void keep(const TuneResult& result, const Job::Parts& parts, Logger& log);

/// Writes the step profile of a probe. Called on rank 0. Throws StorageError.
void keep(const StepProfile& profile, const std::string& file, Logger& log);

}  // namespace ddpkit
