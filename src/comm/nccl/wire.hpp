#pragma once

#include <string>
#include <vector>

#include "ddpkit/base/exit_status.hpp"

namespace ddpkit::nccl {

/// What a rank says to rank 0 when it comes.
struct Greeting {
  int rank = 0;
  int world_size = 0;
  std::string text{};
};

/// What rank 0 says to all when everybody is there, or to one whom it refuses.
struct Answer {
  std::string refusal{};                     ///< why not, else empty
  ExitStatus status = ExitStatus::disagree;  ///< what a refusal means
  std::vector<std::string> texts{};
};

std::string encode(const Greeting& greeting);
std::string encode(const Answer& answer);

/// What became of the bytes that have arrived so far.
enum class Decoded { message, more_to_come, garbage };
Decoded decode(const std::string& bytes, Greeting& greeting);
Decoded decode(const std::string& bytes, Answer& answer);

}  // namespace ddpkit::nccl
