#include "comm/mpi/channel.hpp"

#include <unistd.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "comm/mpi/check.hpp"
#include "comm/mpi/node_engine.hpp"
#include "comm/mpi/operation_queue.hpp"
#include "comm/mpi/shared_memory.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit::mpi {
namespace {

std::pair<int, int> rank_and_size(MPI_Comm comm) {
  int rank = 0;
  int size = 1;
  check(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  check(MPI_Comm_size(comm, &size), "MPI_Comm_size");
  return {rank, size};
}

std::string host_name() {
  char name[MPI_MAX_PROCESSOR_NAME] = {};
  int length = 0;
  check(MPI_Get_processor_name(name, &length), "MPI_Get_processor_name");
  return {name, static_cast<std::size_t>(length)};
}

// The lowest rank on the node of each rank.
std::vector<int> node_leaders(MPI_Comm comm, MPI_Comm node, const Topology& topology) {
  int leader = topology.rank;
  check(MPI_Allreduce(MPI_IN_PLACE, &leader, 1, MPI_INT, MPI_MIN, node), "MPI_Allreduce");
  std::vector<int> leaders(static_cast<std::size_t>(topology.world_size));
  check(MPI_Allgather(&leader, 1, MPI_INT, leaders.data(), 1, MPI_INT, comm), "MPI_Allgather");
  return leaders;
}

void number_nodes(Topology& topology, const std::vector<int>& leaders) {
  const std::set<int> nodes(leaders.begin(), leaders.end());
  const int own = leaders[static_cast<std::size_t>(topology.rank)];
  topology.node = static_cast<int>(std::distance(nodes.begin(), nodes.find(own)));
  topology.node_count = static_cast<int>(nodes.size());
}

std::vector<int> members_of_node(const Topology& topology, const std::vector<int>& leaders) {
  std::vector<int> members;
  for (int rank = 0; rank < topology.world_size; ++rank)
    if (leaders[static_cast<std::size_t>(rank)] == leaders[static_cast<std::size_t>(topology.rank)]) members.push_back(rank);
  return members;
}

/// Ranks that have a core each look longer before they give it to another.
int spins_for(int local_size) {
  return sysconf(_SC_NPROCESSORS_ONLN) >= local_size ? 2000 : 20;
}

void fill_in(Channel& channel) {
  Topology& topology = channel.topology;
  std::tie(topology.rank, topology.world_size) = rank_and_size(channel.comm);
  topology.host = host_name();
  check(MPI_Comm_split_type(channel.comm, MPI_COMM_TYPE_SHARED, topology.rank, MPI_INFO_NULL, &channel.node),
        "MPI_Comm_split_type");
  std::tie(topology.local_rank, topology.local_size) = rank_and_size(channel.node);
  const auto leaders = node_leaders(channel.comm, channel.node, topology);
  number_nodes(topology, leaders);
  channel.node_ranks = members_of_node(topology, leaders);
}

/// What the ranks of the node share: how far each is, and, where there is no other node, a way to reduce without MPI.
void share(Channel& channel, const std::shared_ptr<OperationQueue>& queue) {
  const Topology& topology = channel.topology;
  const auto mine = static_cast<std::size_t>(topology.local_rank);
  const std::size_t ranks = channel.node_ranks.size();
  SharedMemory rows = share_memory(channel.node, ProgressTable::bytes(ranks));
  channel.table = ProgressTable(std::move(rows.data), channel.node_ranks, mine, topology.world_size);
  if (topology.node_count > 1) return;
  SharedMemory memory = share_memory(channel.node, NodeEngine::bytes(ranks));
  channel.engine_problem = std::move(memory.problem);
  if (!memory.data) return;
  channel.engine =
      std::make_shared<NodeEngine>(std::move(memory.data), channel.node_ranks, mine,
                                   NodeEngine::Options{.queue = queue,
                                                       .timeout = channel.timeout,
                                                       .self = text("rank ", topology.rank, " of ", topology.world_size),
                                                       .spins = spins_for(topology.local_size)});
  queue->add_chore([engine = std::weak_ptr(channel.engine)](const void* busy) {
    const auto living = engine.lock();
    if (living && living.get() != busy) living->advance();
    return living != nullptr;
  });
}

}  // namespace

std::shared_ptr<Channel> open_channel(const Channel& parent, Group group, const std::shared_ptr<OperationQueue>& queue) {
  auto channel = std::make_shared<Channel>();
  const int color = group.color < 0 ? MPI_UNDEFINED : group.color;
  check(MPI_Comm_split(parent.comm, color, group.key, &channel->comm), "MPI_Comm_split");
  if (channel->comm == MPI_COMM_NULL) return nullptr;
  check(MPI_Comm_set_errhandler(channel->comm, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  channel->timeout = parent.timeout;
  channel->chunk_elements = parent.chunk_elements;
  fill_in(*channel);
  share(*channel, queue);
  return channel;
}

void close_channel(Channel& channel) {
  check(MPI_Comm_free(&channel.node), "MPI_Comm_free");
  check(MPI_Comm_free(&channel.comm), "MPI_Comm_free");
}

std::shared_ptr<Channel> borrow_channel(MPI_Comm comm, std::chrono::milliseconds timeout, std::int64_t chunk_elements) {
  auto channel = std::make_shared<Channel>();
  channel->comm = comm;
  channel->timeout = timeout;
  channel->chunk_elements = chunk_elements;
  std::tie(channel->topology.rank, channel->topology.world_size) = rank_and_size(comm);
  return channel;
}

}  // namespace ddpkit::mpi
