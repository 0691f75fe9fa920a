#pragma once

#include "app/command_line.hpp"
#include "ddpkit/app/job.hpp"

namespace ddpkit {

/// Everything between a configuration that all ranks share and the user's program: device, threads, memory, placement table,
/// data communicator, run folder. `defaults` are the program's. Collective.
Job::Parts start_up(const CommandLine& line, LoadedConfig loaded, const RunConfig& defaults, Communicator& control,
                    Logger& log);

}  // namespace ddpkit
