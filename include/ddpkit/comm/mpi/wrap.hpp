#pragma once

#include <mpi.h>

#include <memory>

#include "ddpkit/comm/comm_options.hpp"
#include "ddpkit/comm/communicator.hpp"

namespace ddpkit {

/// A communicator over a duplicate of `comm`, for programs that use MPI themselves. Collective over its ranks. MPI must have
/// been initialised with MPI_THREAD_SERIALIZED or more; with SERIALIZED the program makes no MPI call of its own while an
/// operation is on its way. The communicator must die before MPI_Finalize. `comm` stays the caller's.
std::unique_ptr<Communicator> wrap_mpi_communicator(MPI_Comm comm, const CommOptions& options = {});

}  // namespace ddpkit
