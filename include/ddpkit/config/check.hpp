#pragma once

#include <string>
#include <vector>

#include "ddpkit/config/run_config.hpp"

namespace ddpkit {

/// Fields that are each legal but do not fit together.
struct Finding {
  std::vector<std::string> paths;  ///< the field to change first, then the others that take part
  std::string message;             ///< "needs optimizer.momentum above 0, got 0"
};

/// Everything about `config` that no single field can know. Pure. `load_config` reports the findings with their origins.
std::vector<Finding> check(const RunConfig& config);

}  // namespace ddpkit
