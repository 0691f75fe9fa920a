#pragma once

#include <string>

#include "ddpkit/batch/batch_profile.hpp"
#include "ddpkit/observe/chart.hpp"
#include "ddpkit/tune/tune_batch.hpp"

namespace ddpkit {

/// The lines that make the plan in a run file: "batch: {global: 512, micro: 64, accumulate: 4}". They hold for as many ranks.
std::string batch_lines(const BatchPlan& plan);

/// A table of what was measured, the choice in words, prediction against measurement, and the lines to paste: for a terminal.
std::string tune_text(const TuneResult& result);

/// Samples per second of one rank against the micro-batch: measurements with their intervals, the fit, the knee with its band,
/// the end of memory, and the choice.
Chart throughput_chart(const BatchProfile& profile);

}  // namespace ddpkit
