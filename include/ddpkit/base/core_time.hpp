#pragma once

#include <filesystem>
#include <optional>
#include <span>

namespace ddpkit {

/// Seconds of some cores since the machine started, added up.
struct CoreTime {
  double total = 0;
  double busy = 0;  ///< with any program, or taken by the host of a virtual machine
};

/// Of the given cores, to a hundredth of a second. Nothing where the system does not tell. `root`: the folder that holds
/// `proc`.
std::optional<CoreTime> core_time(std::span<const int> cores, const std::filesystem::path& root = "/");

/// Seconds that this process and all children that it has waited for have computed so far.
double own_core_seconds();

}  // namespace ddpkit
