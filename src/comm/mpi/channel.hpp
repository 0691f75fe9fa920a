#pragma once

#include <mpi.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "comm/mpi/progress_table.hpp"
#include "ddpkit/base/topology.hpp"
#include "ddpkit/comm/comm_options.hpp"

namespace ddpkit::mpi {

class NodeEngine;
class NodeLinks;
class OperationQueue;

/// How a channel works; handed on to those that are opened from it.
struct ChannelOptions {
  std::chrono::milliseconds timeout{0};
  std::int64_t chunk_elements = 0;
  NodeProgress progress = NodeProgress::automatic;
  int ranks_per_node = 0;
};

/// One MPI communicator and what belongs to it. Used by the communication thread only, apart from what never changes. Outlives
/// its Communicator when operations are still on their way.
struct Channel {
  MPI_Comm comm = MPI_COMM_NULL;
  Topology topology;
  MPI_Comm node = MPI_COMM_NULL;  ///< the ranks of this node
  std::vector<int> node_ranks;    ///< their numbers in `comm`
  ProgressTable table;
  std::shared_ptr<NodeLinks> links;    ///< to the other nodes, where there are any and the ranks of each share memory
  std::shared_ptr<NodeEngine> engine;  ///< where the ranks of each node share memory
  bool warned = false;                 ///< it has been said that they do not
  std::atomic<int> under_way = 0;      ///< operations that the communication thread has or will have
  ChannelOptions options;
  std::vector<std::byte> scratch;
};

/// Which ranks of a communicator belong together.
struct Group {
  int color = 0;
  int key = 0;
};

/// A communicator of its own for the ranks of `parent` with equal colour; null for a negative one. Collective over the parent's
/// ranks; runs on the communication thread, which takes its work from `queue`.
std::shared_ptr<Channel> open_channel(const Channel& parent, Group group, const std::shared_ptr<OperationQueue>& queue);

/// Frees its MPI communicators. Collective; runs on the communication thread.
void close_channel(Channel& channel);

/// The program's own communicator with what is known without talking to anyone: enough to open a channel from.
std::shared_ptr<Channel> borrow_channel(MPI_Comm comm, const CommOptions& options);

/// One line in the log of the job, from the first rank of each node that has a problem and once per channel, that its ranks
/// share no memory and why.
void warn_of_private_memory(Channel& channel, std::string_view problem);

}  // namespace ddpkit::mpi
