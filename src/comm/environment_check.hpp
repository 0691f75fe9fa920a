#pragma once

#include <functional>
#include <optional>
#include <string>

#include "ddpkit/base/topology.hpp"

namespace ddpkit {

/// Reads one variable; nothing when it is not set.
using Environment = std::function<std::optional<std::string>(const char* name)>;

Environment process_environment();

/// What RANK, WORLD_SIZE and their kin, which other launchers set and MPI does not read, say against the ranks that were found;
/// empty when nothing contradicts. Such variables are ignored: the line is for the log.
std::string contradiction(const Topology& found, const Environment& environment);

/// Throws CommError when the launcher started more ranks than the library found: every process would train alone and write over
/// the others' files.
void check_launcher(const LaunchEnvironment& launcher, const Topology& found);

}  // namespace ddpkit
