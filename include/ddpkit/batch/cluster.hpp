#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ddpkit/base/fields.hpp"
#include "ddpkit/batch/all_reduce_cost.hpp"

namespace ddpkit {

/// What joins ranks, as its maker tells it, and what of that is reached.
struct ClusterLink {
  double latency_us = 0;
  double gbit_per_second = 0;             ///< in one direction; between nodes: of all of a node's adapters together
  double efficiency = 0.8;                ///< part of the bandwidth that collectives reach
  std::optional<double> efficiency_low;   ///< left out: as `efficiency`
  std::optional<double> efficiency_high;  ///< likewise
};

template <class Visitor>
void visit_fields(Visitor& visit, ClusterLink& link) {
  visit("latency_us", link.latency_us, "microseconds for a hop", between(0, 1e9));
  visit("gbit_per_second", link.gbit_per_second, "in one direction; between nodes: all adapters of a node together",
        between(1e-6, 1e9));
  visit("efficiency", link.efficiency, "part of the bandwidth that collectives reach", between(0.001, 1));
  visit("efficiency_low", link.efficiency_low, "lower end of the band", between(0.001, 1));
  visit("efficiency_high", link.efficiency_high, "upper end of the band", between(0.001, 1));
}

/// Machines on which a step is predicted: what `simulate` reads from a YAML file.
struct Cluster {
  std::string name;
  std::string source;  ///< where the figures come from, in words
  std::int64_t nodes = 1;
  std::int64_t ranks_per_node = 1;
  ClusterLink within;   ///< one rank of a node and its neighbour; needed from two ranks per node on
  ClusterLink between;  ///< one node and its neighbour; needed from two nodes on
  AllReduce all_reduce = AllReduce::automatic;
  double start_up_us = 0;        ///< of every collective
  std::optional<double> jitter;  ///< left out: the profile's
  double interference = 0;

  std::int64_t ranks() const noexcept { return nodes * ranks_per_node; }
};

template <class Visitor>
void visit_fields(Visitor& visit, Cluster& cluster) {
  visit("name", cluster.name, "what it is called in the output");
  visit("source", cluster.source, "where the figures come from, in words");
  visit("nodes", cluster.nodes, "machines", between(1, 1e6));
  visit("ranks_per_node", cluster.ranks_per_node, "ranks, or devices, of each", between(1, 1e4));
  visit("within", cluster.within, "from a rank to its neighbour in the node");
  visit("between", cluster.between, "from a node to the next");
  visit("all_reduce", cluster.all_reduce, "how ranks sum what they have");
  visit("start_up_us", cluster.start_up_us, "microseconds before any collective begins", between(0, 1e9));
  visit("jitter", cluster.jitter, "standard deviation of a rank's computing over its mean; auto: the profile's", between(0, 1));
  visit("interference", cluster.interference, "by how much computing is slower while gradients travel: 0.1 for 10 %",
        between(0, 100));
}

/// The part of a link's bandwidth that is assumed.
enum class LinkEfficiency { low, likely, high };

/// What collectives see of the cluster.
Fabric fabric_of(const Cluster& cluster, LinkEfficiency efficiency);

/// The first `ranks` of the cluster: part of one node, or whole nodes. Throws UsageError for other counts and for more than
/// there are.
Layout layout_of(const Cluster& cluster, std::int64_t ranks);

}  // namespace ddpkit
