#pragma once

namespace ddpkit::mpi {

/// Throws CommError with MPI's own words unless `code` is MPI_SUCCESS. `call` is the name of the function that returned it.
void check(int code, const char* call);

/// The same for destructors: writes a line to standard error instead of throwing.
void check_quietly(int code, const char* call) noexcept;

}  // namespace ddpkit::mpi
