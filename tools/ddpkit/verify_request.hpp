#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ddpkit::tool {

/// What `ddpkit verify` was asked for.
struct VerifyRequest {
  std::string config{};
  std::vector<int> ranks{};   ///< rising, without repetition
  std::int64_t steps = 20;    ///< of each run whose losses are compared
  std::int64_t windows = 20;  ///< that each probe measures
  std::string out = "verify";
  std::string launcher{};  ///< "mpirun --oversubscribe"; empty: mpirun, with what it needs for more ranks than cores
  std::chrono::seconds time_limit{600};  ///< of each run
  double most_other_work = 0.1;          ///< of the cores' time, by other programs, while speed is measured
  std::vector<std::string> program{};    ///< and its arguments
};

/// Of "1,2,4": rising, without repetition. Throws UsageError for what is no list of whole numbers from 1 on.
std::vector<int> read_ranks(const std::string& list);

/// Where none are asked for: 1, 2, 4 and so on, as many as there are cores, and at least 1 and 2.
std::vector<int> default_ranks(std::size_t cores);

/// What starts a program on so many ranks, without the program: "mpirun", "--oversubscribe", "-np", "4".
std::vector<std::string> launch_arguments(const VerifyRequest& request, int ranks, std::size_t cores);

}  // namespace ddpkit::tool
