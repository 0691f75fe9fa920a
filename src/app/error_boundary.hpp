#pragma once

#include <functional>

#include "ddpkit/base/log.hpp"
#include "ddpkit/comm/communicator.hpp"

namespace ddpkit {

/// Runs `body` on every rank and turns whatever it throws into an exit status. An error that all ranks share is reported once,
/// and they leave together; any other is reported by its rank and ends the whole job at once.
ExitStatus with_error_boundary(Communicator& control, Logger& log, const std::function<ExitStatus()>& body);

}  // namespace ddpkit
