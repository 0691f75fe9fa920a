#pragma once

#include <string>
#include <vector>

#include "ddpkit/config/origins.hpp"
#include "ddpkit/config/run_config.hpp"

namespace ddpkit {

/// What a configuration is made from. Later layers win: ddpkit's defaults, the program's, the file, the overrides in order.
struct LoadRequest {
  std::string file = {};                    ///< YAML run file; empty: none
  std::vector<std::string> overrides = {};  ///< "batch.global=1024", "schedule.milestones=[30 epochs, 60 epochs]"
  RunConfig program = {};                   ///< the program's own defaults
};

struct LoadedConfig {
  RunConfig config;
  Origins origins;
};

/// Merges the layers, strictly. Not collective: each rank reads for itself, and the start-up check compares.
/// Throws StorageError when the file cannot be read, and otherwise one ConfigError that lists everything that is wrong, one per
/// line: `file:line:column: key.path: expected ..., got ...; hint`.
LoadedConfig load_config(const LoadRequest& request);

}  // namespace ddpkit
