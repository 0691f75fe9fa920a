#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <string>

namespace ddpkit::mpi {

/// Zeroed memory that the ranks of a node see alike, or the reason why there is none. It has no name: it is not limited by the
/// size of /dev/shm, is unmapped without a collective, and vanishes with the last process, however that ends.
struct SharedMemory {
  std::shared_ptr<std::byte> data;
  std::string problem;  ///< why `data` is empty: of the lowest rank that could not map it
};

/// Collective over `node`, the ranks of one node, on the communication thread; equal `bytes` everywhere. All ranks get it or
/// none does.
SharedMemory share_memory(MPI_Comm node, std::size_t bytes);

}  // namespace ddpkit::mpi
