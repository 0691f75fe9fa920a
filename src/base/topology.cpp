#include "ddpkit/base/topology.hpp"

#include <charconv>
#include <cstdlib>
#include <initializer_list>
#include <optional>
#include <string_view>

namespace ddpkit {
namespace {

std::optional<int> integer_from(std::initializer_list<const char*> variables) {
  for (const char* variable : variables) {
    const char* value = std::getenv(variable);
    if (value == nullptr) continue;
    const std::string_view digits = value;
    int number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error == std::errc() && end == digits.data() + digits.size()) return number;
  }
  return std::nullopt;
}

}  // namespace

LaunchEnvironment read_launch_environment() {
  LaunchEnvironment launch;
  const auto rank = integer_from({"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"});
  if (!rank) return launch;
  launch.under_launcher = true;
  launch.rank = *rank;
  launch.world_size = integer_from({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"}).value_or(1);
  launch.local_rank = integer_from({"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"}).value_or(0);
  launch.local_size = integer_from({"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"}).value_or(1);
  return launch;
}

}  // namespace ddpkit
