#pragma once

#include <string>

namespace ddpkit {

/// Where this process stands among the processes of the job. Fixed for the life of a communicator.
struct Topology {
  int rank = 0;        ///< 0 .. world_size - 1
  int world_size = 1;  ///< processes in the communicator
  int local_rank = 0;  ///< rank among the processes of this node
  int local_size = 1;  ///< processes on this node
  int node = 0;        ///< number of this node, in order of its lowest rank
  int node_count = 1;  ///< nodes in the communicator
  std::string host;    ///< name of this node
};

/// What the launcher's environment variables say before any backend has started: Open MPI, PMIx, MPICH and Slurm.
/// Returns false in `under_launcher` when none is set. Used to pick a backend, never to number ranks.
struct LaunchEnvironment {
  bool under_launcher = false;
  int rank = 0;
  int world_size = 1;
  int local_rank = 0;
  int local_size = 1;
};

LaunchEnvironment read_launch_environment();

}  // namespace ddpkit
