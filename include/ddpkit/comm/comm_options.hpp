#pragma once

#include <array>
#include <chrono>

#include "ddpkit/base/fields.hpp"

namespace ddpkit {

/// Which library moves data between ranks.
enum class Backend {
  automatic,  ///< nccl on GPUs, mpi under a launcher, else local
  mpi,
  nccl,
  local,  ///< one rank
};

constexpr auto enum_names(Backend) {
  return std::to_array<std::pair<Backend, std::string_view>>(
      {{Backend::automatic, "auto"}, {Backend::mpi, "mpi"}, {Backend::nccl, "nccl"}, {Backend::local, "local"}});
}

/// Who does a rank's part of the collectives on data in memory that the ranks of a node share.
enum class NodeProgress {
  automatic,  ///< caller
  caller,     ///< whoever waits for one, mostly right after backward: nothing disturbs it, nothing is hidden behind it
  eager,      ///< also whoever starts the next, such as the hooks of backward, where all ranks have come by then
  thread,     ///< also the communication thread, as soon as all have come: for ranks that have a core to spare
};

constexpr auto enum_names(NodeProgress) {
  return std::to_array<std::pair<NodeProgress, std::string_view>>({{NodeProgress::automatic, "auto"},
                                                                   {NodeProgress::caller, "caller"},
                                                                   {NodeProgress::eager, "eager"},
                                                                   {NodeProgress::thread, "thread"}});
}

struct CommOptions {
  Backend backend = Backend::automatic;
  /// How long a collective may wait for the slowest rank. Longer than a network blip (20 s on TCP), shorter than a night.
  std::chrono::milliseconds timeout = std::chrono::seconds(120);
  /// Elements in one call of the underlying library; more are split. Lowered by tests only.
  std::int64_t chunk_elements = 1 << 30;
  /// Who works on data in shared memory. Between nodes it is always the communication thread.
  NodeProgress progress = NodeProgress::automatic;
  /// Ranks that are taken for one node; 0: those that share memory. Set by tests only.
  int ranks_per_node = 0;
};

template <class Visitor>
void visit_fields(Visitor& visit, CommOptions& options) {
  visit("backend", options.backend,
        "which library moves data between ranks: auto takes nccl on GPUs, mpi under mpirun, else local");
  visit("timeout", options.timeout, "how long a collective may wait for the slowest rank before the job ends with status 124",
        at_least(1));
  visit("progress", options.progress,
        "who reduces data in memory that the ranks of a node share: auto takes caller, whoever waits for them, which is best "
        "while "
        "all cores compute; eager also looks at each start of another collective, inside backward; thread gives them to the "
        "communication thread, for ranks with a core to spare. Between nodes it is always the thread");
}

}  // namespace ddpkit
