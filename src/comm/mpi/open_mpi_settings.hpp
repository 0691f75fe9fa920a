#pragma once

namespace ddpkit::mpi {

/// Before MPI_Init: settings of Open MPI under which a training job runs well, in this process's environment. What the user or
/// mpirun has set there stays. Other MPI libraries do not look at them.
///
/// - `mpi_yield_when_idle`: the communication thread waits inside MPI while another thread computes, on the same core where
///   each rank has one; and ranks that outnumber the cores wait for each other's turns.
/// - `coll_libnbc_iallreduce_algorithm 3`: halves are exchanged and summed by all ranks at once, where MPI_Iallreduce in place
///   would send everything to one rank and back.
/// - `btl_vader_single_copy_mechanism none`, where the system refuses to copy between processes (in many containers): Open MPI
///   would try, and print errors.
void prepare_open_mpi();

}  // namespace ddpkit::mpi
