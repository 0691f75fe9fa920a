#include "comm/end_process.hpp"

#include <unistd.h>

#include <cstdio>

namespace ddpkit {

int abort_status(ExitStatus status) noexcept {
  return status == ExitStatus::ok ? static_cast<int>(ExitStatus::internal) : static_cast<int>(status);
}

void report_abort(const Topology& topology, const Error& reason) noexcept {
  std::fprintf(stderr, "[rank %d/%d] abort with status %d: %s\n", topology.rank, topology.world_size,
               abort_status(reason.status()), reason.what());
}

void end_process(ExitStatus status) noexcept {
  std::fflush(nullptr);
  _exit(abort_status(status));
}

}  // namespace ddpkit
