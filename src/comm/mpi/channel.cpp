#include "comm/mpi/channel.hpp"

#include <unistd.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "comm/mpi/check.hpp"
#include "comm/mpi/node_engine.hpp"
#include "comm/mpi/node_links.hpp"
#include "comm/mpi/operation_queue.hpp"
#include "comm/mpi/shared_memory.hpp"
#include "ddpkit/base/log.hpp"
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

/// Ranks that have a core each look longer before they give it to another, but never longer than a message takes: the scheduler
/// may have put two of them on one core all the same.
int spins_for(int local_size) {
  return sysconf(_SC_NPROCESSORS_ONLN) >= local_size ? 30 : 0;
}

/// The ranks that share memory; in tests, nodes of a few of them each.
MPI_Comm split_by_node(const Channel& channel) {
  const int rank = channel.topology.rank;
  MPI_Comm node = MPI_COMM_NULL;
  check(MPI_Comm_split_type(channel.comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node), "MPI_Comm_split_type");
  if (channel.options.ranks_per_node == 0) return node;
  MPI_Comm whole = node;
  check(MPI_Comm_split(whole, rank_and_size(whole).first / channel.options.ranks_per_node, rank, &node), "MPI_Comm_split");
  check(MPI_Comm_free(&whole), "MPI_Comm_free");
  return node;
}

void fill_in(Channel& channel) {
  Topology& topology = channel.topology;
  std::tie(topology.rank, topology.world_size) = rank_and_size(channel.comm);
  topology.host = host_name();
  channel.node = split_by_node(channel);
  std::tie(topology.local_rank, topology.local_size) = rank_and_size(channel.node);
  const auto leaders = node_leaders(channel.comm, channel.node, topology);
  number_nodes(topology, leaders);
  channel.node_ranks = members_of_node(topology, leaders);
}

int over_all(const Channel& channel, int mine, MPI_Op op) {
  check(MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_INT, op, channel.comm), "MPI_Allreduce");
  return mine;
}

std::shared_ptr<NodeLinks> link_nodes(const Channel& channel, int owners) {
  const Topology& topology = channel.topology;
  const int color = topology.local_rank < owners ? topology.local_rank : MPI_UNDEFINED;
  MPI_Comm same_slice = MPI_COMM_NULL;
  check(MPI_Comm_split(channel.comm, color, topology.node, &same_slice), "MPI_Comm_split");
  return std::make_shared<NodeLinks>(same_slice, static_cast<std::size_t>(owners), topology.world_size);
}

// Between nodes the communication thread does everything, since all ranks must make their MPI calls in one order.
NodeProgress progress_of(const Channel& channel) {
  if (channel.links || channel.options.progress == NodeProgress::automatic) return NodeProgress::caller;
  return channel.options.progress;
}

void start_engine(Channel& channel, std::shared_ptr<std::byte> memory, const std::shared_ptr<OperationQueue>& queue) {
  const Topology& topology = channel.topology;
  NodeEngine::Options options{.queue = queue,
                              .timeout = channel.options.timeout,
                              .self = text("rank ", topology.rank, " of ", topology.world_size),
                              .spins = spins_for(topology.local_size),
                              .progress = progress_of(channel),
                              .links = channel.links};
  channel.engine = std::make_shared<NodeEngine>(std::move(memory), channel.node_ranks,
                                                static_cast<std::size_t>(topology.local_rank), std::move(options));
  if (channel.links) return;  // the communication thread must not be in its exchange by chance
  queue->add_chore([engine = std::weak_ptr(channel.engine)](const void* busy) {
    const auto living = engine.lock();
    if (!living) return OperationQueue::ChoreState::gone;
    if (living.get() != busy) living->advance();
    return living->idle() ? OperationQueue::ChoreState::idle : OperationQueue::ChoreState::unfinished;
  });
}

/// What the ranks of a node share: how far each is, and, where no node is a single rank's, a way to reduce without MPI.
void share(Channel& channel, const std::shared_ptr<OperationQueue>& queue) {
  const Topology& topology = channel.topology;
  const auto mine = static_cast<std::size_t>(topology.local_rank);
  const std::size_t ranks = channel.node_ranks.size();
  SharedMemory rows = share_memory(channel.node, ProgressTable::bytes(ranks));
  channel.table = ProgressTable(std::move(rows.data), channel.node_ranks, mine, topology.world_size);
  if (over_all(channel, topology.local_size, MPI_MAX) == 1) return;
  SharedMemory memory = share_memory(channel.node, NodeEngine::bytes(ranks));
  warn_of_private_memory(channel, memory.problem);
  if (over_all(channel, memory.data ? 1 : 0, MPI_MIN) == 0) return;
  const int owners = over_all(channel, topology.local_size, MPI_MIN);
  if (topology.node_count > 1) channel.links = link_nodes(channel, owners);
  start_engine(channel, std::move(memory.data), queue);
}

}  // namespace

std::shared_ptr<Channel> open_channel(const Channel& parent, Group group, const std::shared_ptr<OperationQueue>& queue) {
  auto channel = std::make_shared<Channel>();
  const int color = group.color < 0 ? MPI_UNDEFINED : group.color;
  check(MPI_Comm_split(parent.comm, color, group.key, &channel->comm), "MPI_Comm_split");
  if (channel->comm == MPI_COMM_NULL) return nullptr;
  check(MPI_Comm_set_errhandler(channel->comm, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  channel->options = parent.options;
  channel->warned = parent.warned;
  fill_in(*channel);
  share(*channel, queue);
  return channel;
}

void close_channel(Channel& channel) {
  if (channel.links) channel.links->close();
  check(MPI_Comm_free(&channel.node), "MPI_Comm_free");
  check(MPI_Comm_free(&channel.comm), "MPI_Comm_free");
}

std::shared_ptr<Channel> borrow_channel(MPI_Comm comm, const CommOptions& options) {
  auto channel = std::make_shared<Channel>();
  channel->comm = comm;
  channel->options = {.timeout = options.timeout,
                      .chunk_elements = options.chunk_elements,
                      .progress = options.progress,
                      .ranks_per_node = options.ranks_per_node};
  std::tie(channel->topology.rank, channel->topology.world_size) = rank_and_size(comm);
  return channel;
}

void warn_of_private_memory(Channel& channel, std::string_view problem) {
  if (problem.empty() || channel.topology.local_rank > 0 || std::exchange(channel.warned, true)) return;
  Logger({.rank = channel.topology.rank, .world_size = channel.topology.world_size})
      .warning("comm", text("the ranks on ", channel.topology.host, " cannot share memory (", problem,
                            "): they exchange data through MPI, which is slower"));
}

}  // namespace ddpkit::mpi
