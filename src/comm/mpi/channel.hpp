#pragma once

#include <mpi.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "comm/mpi/progress_table.hpp"
#include "ddpkit/base/topology.hpp"

namespace ddpkit::mpi {

/// One MPI communicator and what belongs to it. Used by the communication thread only, apart from what never changes. Outlives
/// its Communicator when operations are still on their way.
struct Channel {
  MPI_Comm comm = MPI_COMM_NULL;
  Topology topology;
  ProgressTable table;
  std::chrono::milliseconds timeout{0};
  std::int64_t chunk_elements = 0;
  std::vector<std::byte> scratch;
};

/// Which ranks of a communicator belong together.
struct Group {
  int color = 0;
  int key = 0;
};

/// A communicator of its own for the ranks of `parent` with equal colour; null for a negative one. Collective over the parent's
/// ranks; runs on the communication thread.
std::shared_ptr<Channel> open_channel(const Channel& parent, Group group);

/// The program's own communicator with what is known without talking to anyone: enough to open a channel from.
std::shared_ptr<Channel> borrow_channel(MPI_Comm comm, std::chrono::milliseconds timeout, std::int64_t chunk_elements);

}  // namespace ddpkit::mpi
