#pragma once

#include <sys/types.h>

#include "base/file_descriptor.hpp"
#include "ddpkit/base/process.hpp"

namespace ddpkit {

struct StartedProgram {
  pid_t pid = -1;
  FileDescriptor output;  ///< read ends, not blocking
  FileDescriptor error;
};

/// Forks and executes; the program runs when this returns. Throws UsageError when it cannot.
StartedProgram start_program(const ProcessCommand& command);

}  // namespace ddpkit
