#include "ddpkit/batch/cluster.hpp"

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/figures.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit {
namespace {

double reached(const ClusterLink& link, LinkEfficiency efficiency) {
  switch (efficiency) {
    case LinkEfficiency::low: return link.efficiency_low.value_or(link.efficiency);
    case LinkEfficiency::high: return link.efficiency_high.value_or(link.efficiency);
    case LinkEfficiency::likely: break;
  }
  return link.efficiency;
}

Hop hop_of(const ClusterLink& link, LinkEfficiency efficiency) {
  constexpr double kBytesPerGbit = 1e9 / 8;
  return {link.latency_us * 1e-6, link.gbit_per_second * kBytesPerGbit * reached(link, efficiency)};
}

}  // namespace

Fabric fabric_of(const Cluster& cluster, LinkEfficiency efficiency) {
  return {hop_of(cluster.within, efficiency), hop_of(cluster.between, efficiency), cluster.start_up_us * 1e-6};
}

Layout layout_of(const Cluster& cluster, std::int64_t ranks) {
  const std::int64_t per_node = cluster.ranks_per_node;
  if (ranks < 1 || ranks > cluster.ranks())
    throw UsageError(text("expected 1 to ", grouped(cluster.ranks()), " ranks, as many as the cluster has, got ",
                          grouped(ranks), "; raise nodes in its description for more"));
  if (ranks <= per_node) return {1, ranks};
  if (ranks % per_node != 0)
    throw UsageError(text(grouped(ranks), " ranks do not fill nodes of ", per_node, "; the nearest counts are ",
                          grouped(ranks / per_node * per_node), " and ", grouped((ranks / per_node + 1) * per_node)));
  return {ranks / per_node, per_node};
}

}  // namespace ddpkit
