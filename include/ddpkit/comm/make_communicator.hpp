#pragma once

#include <memory>

#include "ddpkit/comm/comm_options.hpp"
#include "ddpkit/comm/communicator.hpp"

namespace ddpkit {

/// The communicator of all ranks of this job for host data, by `options.backend`: under a launcher MPI, alone a single rank.
/// Collective and blocking. Starts MPI when the program has not, and then ends it when the last communicator made from it dies.
/// Call it from the thread that calls `main`. Throws ConfigError when a backend is asked for that this build lacks, and
/// CommError when the ranks it finds contradict the launcher.
std::unique_ptr<Communicator> make_communicator(const CommOptions& options = {});

/// A communicator with the ranks of `control` for data on `device`: NCCL on CUDA, else a duplicate of `control`. Collective.
std::unique_ptr<Communicator> make_data_communicator(Communicator& control, Device device, const CommOptions& options = {});

}  // namespace ddpkit
