#pragma once

#include <memory>

#include "ddpkit/comm/comm_options.hpp"
#include "ddpkit/comm/communicator.hpp"

namespace ddpkit {

/// Whether this build has the MPI backend.
bool has_mpi() noexcept;

/// All ranks of MPI_COMM_WORLD. Collective. Throws ConfigError when the build has no MPI.
std::unique_ptr<Communicator> make_mpi_communicator(const CommOptions& options);

}  // namespace ddpkit
