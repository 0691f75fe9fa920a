#include "ddpkit/batch/all_reduce_cost.hpp"

#include <algorithm>
#include <bit>

namespace ddpkit {
namespace {

/// Of `count` parts, what all but one make of the whole.
double all_but_one(std::int64_t count) {
  return static_cast<double>(count - 1) / static_cast<double>(count);
}

double rounds(std::int64_t count) {
  return static_cast<double>(std::bit_width(static_cast<std::uint64_t>(count - 1)));
}

bool is_power_of_two(std::int64_t count) {
  return std::has_single_bit(static_cast<std::uint64_t>(count));
}

double slowest_bandwidth(const Layout& layout, const Fabric& fabric) {
  if (layout.nodes == 1) return fabric.within.bytes_per_second;
  if (layout.ranks_per_node == 1) return fabric.between.bytes_per_second;
  return std::min(fabric.within.bytes_per_second, fabric.between.bytes_per_second);
}

// A piece of data passes each hop of the ring once for the sum and once for the copies, but for one.
double ring(double bytes, const Layout& layout, const Fabric& fabric) {
  const auto crossings = static_cast<double>(layout.nodes > 1 ? layout.nodes : 0);
  const double others = static_cast<double>(layout.ranks()) - crossings;
  const double around = crossings * fabric.between.latency_seconds + others * fabric.within.latency_seconds;
  return 2 * all_but_one(layout.ranks()) * (around + bytes / slowest_bandwidth(layout, fabric));
}

double tree(double bytes, const Layout& layout, const Fabric& fabric) {
  const double depth =
      rounds(layout.ranks_per_node) * fabric.within.latency_seconds + rounds(layout.nodes) * fabric.between.latency_seconds;
  return 2 * (depth + bytes / slowest_bandwidth(layout, fabric));
}

double doubling(double bytes, std::int64_t count, const Hop& hop) {
  const double surplus = is_power_of_two(count) ? 0 : 2 * hop.seconds(bytes);
  return rounds(count) * hop.seconds(bytes) + surplus;
}

double halving(double bytes, std::int64_t count, const Hop& hop) {
  const double surplus = is_power_of_two(count) ? 0 : 2 * hop.seconds(bytes);
  return 2 * rounds(count) * hop.latency_seconds + 2 * all_but_one(count) * bytes / hop.bytes_per_second + surplus;
}

// Every rank of a node sends all it has over the node's one way out.
double recursive_doubling(double bytes, const Layout& layout, const Fabric& fabric) {
  const double node_bytes = bytes * static_cast<double>(layout.ranks_per_node);
  return doubling(bytes, layout.ranks_per_node, fabric.within) + doubling(node_bytes, layout.nodes, fabric.between);
}

// After the node's rounds each rank holds a slice; those of one node make up the whole again on the way out.
double halving_doubling(double bytes, const Layout& layout, const Fabric& fabric) {
  return halving(bytes, layout.ranks_per_node, fabric.within) + halving(bytes, layout.nodes, fabric.between);
}

double hierarchical(double bytes, const Layout& layout, const Fabric& fabric) {
  const double within = ring(bytes, {1, layout.ranks_per_node}, fabric);
  if (layout.nodes == 1) return within;
  const Layout leaders{layout.nodes, 1};
  return within +
         std::min({ring(bytes, leaders, fabric), tree(bytes, leaders, fabric), halving_doubling(bytes, leaders, fabric)});
}

double transfer_seconds(AllReduce algorithm, double bytes, const Layout& layout, const Fabric& fabric) {
  switch (algorithm) {
    case AllReduce::ring: return ring(bytes, layout, fabric);
    case AllReduce::tree: return tree(bytes, layout, fabric);
    case AllReduce::recursive_doubling: return recursive_doubling(bytes, layout, fabric);
    case AllReduce::halving_doubling: return halving_doubling(bytes, layout, fabric);
    case AllReduce::hierarchical: return hierarchical(bytes, layout, fabric);
    case AllReduce::automatic: break;
  }
  return transfer_seconds(fastest_all_reduce(bytes, layout, fabric), bytes, layout, fabric);
}

}  // namespace

double all_reduce_seconds(AllReduce algorithm, double bytes, const Layout& layout, const Fabric& fabric) {
  if (layout.ranks() == 1) return 0;
  return fabric.start_up_seconds + transfer_seconds(algorithm, bytes, layout, fabric);
}

AllReduce fastest_all_reduce(double bytes, const Layout& layout, const Fabric& fabric) {
  AllReduce fastest = AllReduce::ring;
  for (const auto& [algorithm, name] : enum_names(AllReduce{})) {
    if (algorithm == AllReduce::automatic) continue;
    const double seconds = transfer_seconds(algorithm, bytes, layout, fabric);
    if (seconds < transfer_seconds(fastest, bytes, layout, fabric)) fastest = algorithm;
  }
  return fastest;
}

}  // namespace ddpkit
