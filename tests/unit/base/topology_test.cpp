#include "ddpkit/base/topology.hpp"

#include <cstdlib>
#include <map>
#include <string>

#include "support/catch.hpp"

using namespace ddpkit;

namespace {

constexpr const char* kVariables[] = {"OMPI_COMM_WORLD_RANK",
                                      "OMPI_COMM_WORLD_SIZE",
                                      "OMPI_COMM_WORLD_LOCAL_RANK",
                                      "OMPI_COMM_WORLD_LOCAL_SIZE",
                                      "PMIX_RANK",
                                      "PMI_RANK",
                                      "PMI_SIZE",
                                      "MPI_LOCALRANKID",
                                      "MPI_LOCALNRANKS",
                                      "SLURM_NTASKS",
                                      "SLURM_LOCALID",
                                      "RANK",
                                      "WORLD_SIZE"};

// The launcher's variables as the test wants them, and afterwards as they were.
class LauncherVariables {
 public:
  explicit LauncherVariables(const std::map<std::string, std::string>& wanted) {
    for (const char* name : kVariables) {
      if (const char* value = std::getenv(name)) before_[name] = value;
      unsetenv(name);
    }
    for (const auto& [name, value] : wanted) setenv(name.c_str(), value.c_str(), 1);
  }
  ~LauncherVariables() {
    for (const char* name : kVariables) unsetenv(name);
    for (const auto& [name, value] : before_) setenv(name.c_str(), value.c_str(), 1);
  }
  LauncherVariables(const LauncherVariables&) = delete;
  LauncherVariables& operator=(const LauncherVariables&) = delete;

 private:
  std::map<std::string, std::string> before_;
};

}  // namespace

TEST_CASE("without a launcher's variables a process stands alone, whatever RANK says") {
  const LauncherVariables variables({{"RANK", "3"}, {"WORLD_SIZE", "8"}, {"SLURM_NTASKS", "4"}});
  const LaunchEnvironment launch = read_launch_environment();
  CHECK_FALSE(launch.under_launcher);
  CHECK(launch.rank == 0);
  CHECK(launch.world_size == 1);
}

TEST_CASE("Open MPI's variables are read") {
  const LauncherVariables variables({{"OMPI_COMM_WORLD_RANK", "5"},
                                     {"OMPI_COMM_WORLD_SIZE", "8"},
                                     {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                                     {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"},
                                     {"PMIX_RANK", "77"}});
  const LaunchEnvironment launch = read_launch_environment();
  CHECK(launch.under_launcher);
  CHECK(launch.rank == 5);
  CHECK(launch.world_size == 8);
  CHECK(launch.local_rank == 1);
  CHECK(launch.local_size == 4);
}

TEST_CASE("MPICH's and Slurm's variables are read") {
  const LauncherVariables mpich({{"PMI_RANK", "2"}, {"PMI_SIZE", "3"}, {"MPI_LOCALRANKID", "2"}, {"MPI_LOCALNRANKS", "3"}});
  CHECK(read_launch_environment().rank == 2);
  CHECK(read_launch_environment().local_size == 3);

  const LauncherVariables slurm({{"PMIX_RANK", "1"}, {"SLURM_NTASKS", "6"}, {"SLURM_LOCALID", "0"}});
  CHECK(read_launch_environment().rank == 1);
  CHECK(read_launch_environment().world_size == 6);
}

TEST_CASE("a variable that is no number counts as absent") {
  const LauncherVariables variables({{"OMPI_COMM_WORLD_RANK", "two"}, {"PMIX_RANK", "4"}, {"OMPI_COMM_WORLD_SIZE", "8x"}});
  CHECK(read_launch_environment().rank == 4);
  CHECK(read_launch_environment().world_size == 1);
}
