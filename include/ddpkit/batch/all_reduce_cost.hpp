#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

namespace ddpkit {

/// How ranks sum what they have.
enum class AllReduce {
  automatic,           ///< whatever is fastest for these bytes on these ranks
  ring,                ///< one ring through all ranks, node by node
  tree,                ///< two binary trees of which each carries half, pipelined
  recursive_doubling,  ///< partners twice as far away in each round, everything in each
  halving_doubling,    ///< Rabenseifner: half as much in each round, and back
  hierarchical,        ///< reduce-scatter in the node, slices between the nodes, all-gather in the node
};

constexpr auto enum_names(AllReduce) {
  return std::to_array<std::pair<AllReduce, std::string_view>>({{AllReduce::automatic, "auto"},
                                                                {AllReduce::ring, "ring"},
                                                                {AllReduce::tree, "tree"},
                                                                {AllReduce::recursive_doubling, "recursive_doubling"},
                                                                {AllReduce::halving_doubling, "halving_doubling"},
                                                                {AllReduce::hierarchical, "hierarchical"}});
}

/// One way between two neighbours, in one direction.
struct Hop {
  double latency_seconds = 0;
  double bytes_per_second = 1e9;

  double seconds(double bytes) const noexcept { return latency_seconds + bytes / bytes_per_second; }
};

/// What ranks are joined by. `between` is what a node has for all its ranks together.
struct Fabric {
  Hop within;
  Hop between;
  double start_up_seconds = 0;  ///< of every collective
};

/// Ranks on nodes, equally many on each.
struct Layout {
  std::int64_t nodes = 1;
  std::int64_t ranks_per_node = 1;

  std::int64_t ranks() const noexcept { return nodes * ranks_per_node; }
};

/// Seconds for summing `bytes` over all ranks; 0 for one rank, which issues nothing. With n ranks, latency a and bandwidth b:
/// ring 2(n-1)a + 2(n-1)/n S/b, where latencies differ the mean around the ring and of the bandwidths the least; tree
/// 2 log n a + 2S/b; recursive doubling log n (a + S/b); halving and doubling 2 log n a + 2(n-1)/n S/b. The last three go
/// through the node first; logarithms are rounded up, and a count that is no power of two costs the last two a first and a last
/// exchange more (Thakur, Rabenseifner, Gropp 2005; Sanders, Speck, Traeff 2009 for the trees). Pure.
double all_reduce_seconds(AllReduce algorithm, double bytes, const Layout& layout, const Fabric& fabric);

/// The algorithm that AllReduce::automatic stands for.
AllReduce fastest_all_reduce(double bytes, const Layout& layout, const Fabric& fabric);

}  // namespace ddpkit
