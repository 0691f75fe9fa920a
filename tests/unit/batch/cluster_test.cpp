#include "ddpkit/batch/cluster.hpp"

#include "ddpkit/base/error.hpp"
#include "support/catch.hpp"

using namespace ddpkit;
using Catch::Matchers::Contains;

namespace {

const Cluster kCluster{.nodes = 4,
                       .ranks_per_node = 8,
                       .within = {.latency_us = 3, .gbit_per_second = 80, .efficiency = 0.5},
                       .between = {.latency_us = 10, .gbit_per_second = 8, .efficiency = 0.8, .efficiency_low = 0.6}};

}  // namespace

TEST_CASE("a cluster's links become seconds and bytes per second") {
  const Fabric fabric = fabric_of(kCluster, LinkEfficiency::likely);
  CHECK(fabric.within.latency_seconds == Approx(3e-6));
  CHECK(fabric.within.bytes_per_second == Approx(5e9));
  CHECK(fabric.between.bytes_per_second == Approx(0.8e9));
}

TEST_CASE("an end of the band that is left out is the likely efficiency") {
  CHECK(fabric_of(kCluster, LinkEfficiency::low).between.bytes_per_second == Approx(0.6e9));
  CHECK(fabric_of(kCluster, LinkEfficiency::high).between.bytes_per_second == Approx(0.8e9));
}

TEST_CASE("ranks fill one node in part, or nodes as a whole") {
  CHECK(layout_of(kCluster, 3).nodes == 1);
  CHECK(layout_of(kCluster, 3).ranks_per_node == 3);
  CHECK(layout_of(kCluster, 24).nodes == 3);
  CHECK(layout_of(kCluster, 24).ranks_per_node == 8);
}

TEST_CASE("ranks that do not fill nodes are refused with the nearest counts") {
  CHECK_THROWS_WITH(layout_of(kCluster, 12), Contains("do not fill nodes of 8") && Contains("8 and 16"));
}

TEST_CASE("more ranks than a cluster has are refused, and none at all") {
  CHECK_THROWS_AS(layout_of(kCluster, 40), UsageError);
  CHECK_THROWS_WITH(layout_of(kCluster, 0), Contains("1 to 32"));
}
