#include "comm/environment_check.hpp"

#include <array>
#include <cstdlib>
#include <utility>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit {

Environment process_environment() {
  return [](const char* name) -> std::optional<std::string> {
    const char* value = std::getenv(name);
    if (value == nullptr) return std::nullopt;
    return value;
  };
}

std::string contradiction(const Topology& found, const Environment& environment) {
  const auto expected = std::to_array<std::pair<const char*, int>>({{"RANK", found.rank},
                                                                    {"WORLD_SIZE", found.world_size},
                                                                    {"LOCAL_RANK", found.local_rank},
                                                                    {"LOCAL_WORLD_SIZE", found.local_size}});
  std::string line;
  for (const auto& [name, number] : expected) {
    const auto value = environment(name);
    if (value && *value != text(number)) line += text(line.empty() ? "" : ", ", name, "=", *value);
  }
  if (line.empty()) return line;
  return text("ignoring ", line, " from the environment: this is rank ", found.rank, " of ", found.world_size, ", local rank ",
              found.local_rank, " of ", found.local_size);
}

void check_launcher(const LaunchEnvironment& launcher, const Topology& found) {
  if (launcher.world_size == found.world_size || found.world_size > 1) return;
  throw CommError(text("the launcher says ", launcher.world_size, " ranks (this is its rank ", launcher.rank,
                       "), but MPI found only itself; the program is linked against another MPI than the one whose mpirun "
                       "started it: compare `ldd <program> | grep mpi` with `mpirun --version`"),
                  ExitStatus::config);
}

}  // namespace ddpkit
