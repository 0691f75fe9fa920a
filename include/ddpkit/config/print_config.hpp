#pragma once

#include <string>
#include <vector>

#include "ddpkit/comm/agree.hpp"
#include "ddpkit/config/load_config.hpp"

namespace ddpkit {

/// The whole configuration as YAML. Loading it gives the same values back, doubles to the last bit.
std::string print_config(const RunConfig& config);

/// Likewise, with the origin of every value in a comment: `global: 512  # fashion.yaml:3:21`.
std::string print_config(const LoadedConfig& loaded);

/// One JSON document: {"config": {...}, "origins": {"batch.global": "fashion.yaml:3:21", ...}}, of which "config" is valid
/// against `json_schema()`.
std::string config_json(const LoadedConfig& loaded);

/// Every value by its path, in a fixed order, for `require_equal` at the start.
std::vector<Fact> config_facts(const RunConfig& config);

}  // namespace ddpkit
