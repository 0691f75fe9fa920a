#pragma once

#include <string>
#include <vector>

#include "ddpkit/optim/optimizer_options.hpp"

namespace ddpkit {

/// Names of the state of Adam and its kin. Throws ConfigError for betas with which bias correction divides by zero.
std::vector<std::string> adam_moments(const OptimizerOptions& options);

}  // namespace ddpkit
