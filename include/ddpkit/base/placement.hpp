#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ddpkit/base/topology.hpp"

namespace ddpkit {

/// On which cores a rank may run and how many threads it should use.
struct Placement {
  int rank = 0;
  std::string host;
  std::vector<int> cores;       ///< affinity mask of the process
  int threads = 1;              ///< intra-op threads
  std::string device = "cpu";   ///< "cpu" or "cuda:1"
  bool oversubscribed = false;  ///< ranks on the node outnumber the cores they may use
};

/// Cores that the calling process may run on, from its affinity mask, ascending.
std::vector<int> allowed_cores();

/// Threads for one rank. Pure. `cores` is the size of this rank's mask, `node_cores` the size of the union of the masks on its
/// node. A rank bound to cores of its own uses them all; ranks that share cores divide them, each getting at least one:
/// min(cores, max(1, node_cores / local_size)).
int threads_for_rank(std::size_t cores, std::size_t node_cores, int local_size);

/// What OMP_NUM_THREADS asks for; nothing where it is not set or no number of threads. Of a list, the first, which is for the
/// outermost loops.
std::optional<int> threads_by_environment();

/// Ascending core numbers with runs joined: "0-3,8"; "-" for none.
std::string format_cores(std::span<const int> cores);

/// One row per rank: host, cores ("0-3,8"), threads, device; and a last line of warning where cores are oversubscribed.
std::string placement_table(std::span<const Placement> placements);

}  // namespace ddpkit
