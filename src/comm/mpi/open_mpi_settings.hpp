#pragma once

namespace ddpkit::mpi {

/// Before MPI_Init: settings of Open MPI under which a training job runs well, in this process's environment. What the user or
/// mpirun has set there stays. Other MPI libraries do not look at them.
///
/// - `mpi_yield_when_idle`: the communication thread waits inside MPI while another thread computes, on the same core where
///   each rank has one; and ranks that outnumber the cores wait for each other's turns.
/// - `btl_vader_single_copy_mechanism none`, where the system refuses to copy between processes (in many containers): Open MPI
///   would try, and print errors.
void prepare_open_mpi();

}  // namespace ddpkit::mpi
