#pragma once

#include <string>

#include "ddpkit/batch/cluster.hpp"
#include "ddpkit/batch/step_profile.hpp"

namespace ddpkit {

/// Reads a cluster's description, YAML, as strictly as a run file. Throws StorageError when the file cannot be read, and
/// otherwise one ConfigError that lists everything that is wrong, one per line: `file:line:column: key.path: ...`.
Cluster read_cluster(const std::string& file);

/// Likewise a step profile, the JSON of to_json(StepProfile). Also refuses gradients that are not in the order of their ready
/// times or ready after backward, and a digest that is not theirs.
StepProfile read_step_profile(const std::string& file);

}  // namespace ddpkit
