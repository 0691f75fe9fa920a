#pragma once

#include <cstdint>
#include <memory>

#include "ddpkit/base/log.hpp"
#include "ddpkit/observe/metric_hub.hpp"
#include "ddpkit/observe/observe_options.hpp"
#include "ddpkit/observe/run_folder.hpp"

namespace ddpkit {

/// What the records of a run are about.
struct MetricsOfRun {
  int rank = 0;
  std::int64_t total_steps = 0;  ///< 0: not known
  RunFolder folder;
};

/// The hub with the sinks that the options ask for; without any on ranks other than 0, and without files when there is no
/// folder. Not collective. A file that cannot be opened is a warning. `logger` must outlive the hub.
std::unique_ptr<MetricHub> open_metrics(const MetricOptions& options, const MetricsOfRun& run, Logger& logger);

}  // namespace ddpkit
