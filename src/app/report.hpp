#pragma once

#include "ddpkit/app/job.hpp"
#include "ddpkit/tune/tune_batch.hpp"

namespace ddpkit {

/// The last lines a person reads, or the JSON document. Called on rank 0.
void report(const TrainSummary& summary, const RunFolder& folder, OutputFormat format, Logger& log);
void report(const Tally& evaluation, OutputFormat format, Logger& log);
void report(const ProbeReport& probe, OutputFormat format);
void report(const TuneResult& tuned, OutputFormat format);

}  // namespace ddpkit
