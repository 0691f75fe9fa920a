#include "ddpkit/batch/all_reduce_cost.hpp"

#include <algorithm>
#include <vector>

#include "support/catch.hpp"

using namespace ddpkit;

namespace {

constexpr Fabric kFabric{.within = {1e-6, 8e9}, .between = {1e-5, 1e9}, .start_up_seconds = 0};
constexpr AllReduce kAll[] = {
    AllReduce::ring,         AllReduce::tree,     AllReduce::recursive_doubling, AllReduce::halving_doubling,
    AllReduce::hierarchical, AllReduce::automatic};

/// A ring, piece by piece: in each of 2(n-1) rounds every rank passes one piece on, as soon as it has it and its way is free.
double ring_by_pieces(double bytes, const Layout& layout, const Fabric& fabric) {
  const auto ranks = static_cast<std::size_t>(layout.ranks());
  std::vector<double> has(ranks, 0), way_free(ranks, 0);
  for (std::size_t round = 0; round < 2 * (ranks - 1); ++round) {
    std::vector<double> next(ranks);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const bool leaves = layout.nodes > 1 && (rank + 1) % static_cast<std::size_t>(layout.ranks_per_node) == 0;
      const Hop& hop = leaves ? fabric.between : fabric.within;
      const double sent = std::max(has[rank], way_free[rank]) + bytes / static_cast<double>(ranks) / hop.bytes_per_second;
      way_free[rank] = sent;
      next[(rank + 1) % ranks] = sent + hop.latency_seconds;
    }
    has = next;
  }
  return *std::max_element(has.begin(), has.end());
}

}  // namespace

TEST_CASE("one rank sums for nothing") {
  for (const AllReduce algorithm : kAll) CHECK(all_reduce_seconds(algorithm, 1e6, {1, 1}, {.start_up_seconds = 1}) == 0);
}

TEST_CASE("on a node each algorithm costs its closed form") {
  const double a = 1e-6, transfer = 8e6 / 8e9;
  const Layout node{1, 8};
  CHECK(all_reduce_seconds(AllReduce::ring, 8e6, node, kFabric) == Approx(14 * a + 14.0 / 8 * transfer));
  CHECK(all_reduce_seconds(AllReduce::tree, 8e6, node, kFabric) == Approx(6 * a + 2 * transfer));
  CHECK(all_reduce_seconds(AllReduce::recursive_doubling, 8e6, node, kFabric) == Approx(3 * (a + transfer)));
  CHECK(all_reduce_seconds(AllReduce::halving_doubling, 8e6, node, kFabric) == Approx(6 * a + 14.0 / 8 * transfer));
  CHECK(all_reduce_seconds(AllReduce::hierarchical, 8e6, node, kFabric) == Approx(14 * a + 14.0 / 8 * transfer));
}

TEST_CASE("between nodes of one rank each algorithm costs its closed form") {
  const double a = 1e-5, transfer = 8e6 / 1e9;
  const Layout nodes{8, 1};
  CHECK(all_reduce_seconds(AllReduce::ring, 8e6, nodes, kFabric) == Approx(14 * a + 14.0 / 8 * transfer));
  CHECK(all_reduce_seconds(AllReduce::tree, 8e6, nodes, kFabric) == Approx(6 * a + 2 * transfer));
  CHECK(all_reduce_seconds(AllReduce::hierarchical, 8e6, nodes, kFabric) == Approx(6 * a + 14.0 / 8 * transfer));
}

TEST_CASE("a ring costs what its pieces take: exactly where hops are equal, within a fifth where they are not") {
  for (const Layout layout : {Layout{1, 4}, Layout{5, 1}, Layout{3, 4}, Layout{2, 8}})
    for (const double bytes : {0.0, 1e4, 1e6, 1e8}) {
      const double expected = ring_by_pieces(bytes, layout, kFabric);
      CHECK(all_reduce_seconds(AllReduce::ring, bytes, layout, kFabric) == Approx(expected).epsilon(0.2));
    }
  for (const Layout layout : {Layout{6, 1}, Layout{1, 7}})
    CHECK(all_reduce_seconds(AllReduce::ring, 1e6, layout, kFabric) == Approx(ring_by_pieces(1e6, layout, kFabric)));
}

TEST_CASE("the slices that leave a node in a hierarchy make up the whole once") {
  const Layout layout{4, 8};
  const double within = 2 * 7.0 / 8 * 8e6 / 8e9, between = 2 * 3.0 / 4 * 8e6 / 1e9;
  const Fabric no_latency{.within = {0, 8e9}, .between = {0, 1e9}};
  CHECK(all_reduce_seconds(AllReduce::hierarchical, 8e6, layout, no_latency) == Approx(within + between));
}

TEST_CASE("a count that is no power of two costs halving and doubling two exchanges more") {
  const Fabric fabric{.within = {0, 1e9}};
  CHECK(all_reduce_seconds(AllReduce::halving_doubling, 3e6, {1, 3}, fabric) == Approx(2 * 2.0 / 3 * 3e-3 + 2 * 3e-3));
}

TEST_CASE("every all-reduce pays its start-up once") {
  Fabric late = kFabric;
  late.start_up_seconds = 1;
  for (const AllReduce algorithm : kAll)
    CHECK(all_reduce_seconds(algorithm, 1e6, {2, 2}, late) == Approx(1 + all_reduce_seconds(algorithm, 1e6, {2, 2}, kFabric)));
}

TEST_CASE("an all-reduce costs more for more bytes, more latency and less bandwidth") {
  const Layout layout{4, 4};
  Fabric slower = kFabric, later = kFabric;
  slower.between.bytes_per_second /= 2;
  later.between.latency_seconds *= 2;
  for (const AllReduce algorithm : kAll) {
    const double seconds = all_reduce_seconds(algorithm, 1e6, layout, kFabric);
    CHECK(all_reduce_seconds(algorithm, 2e6, layout, kFabric) > seconds);
    CHECK(all_reduce_seconds(algorithm, 1e6, layout, slower) > seconds);
    CHECK(all_reduce_seconds(algorithm, 1e6, layout, later) > seconds);
  }
}

TEST_CASE("the automatic all-reduce is the fastest of all") {
  for (const Layout layout : {Layout{1, 2}, Layout{1, 6}, Layout{2, 8}, Layout{1000, 8}})
    for (const double bytes : {64.0, 1e5, 1e8}) {
      const double automatic = all_reduce_seconds(AllReduce::automatic, bytes, layout, kFabric);
      for (const AllReduce algorithm : kAll) CHECK(automatic <= all_reduce_seconds(algorithm, bytes, layout, kFabric));
      CHECK(automatic == all_reduce_seconds(fastest_all_reduce(bytes, layout, kFabric), bytes, layout, kFabric));
    }
}

TEST_CASE("few bytes on many ranks go by a tree or by doubling, not around a ring") {
  const Layout many{12500, 8};
  CHECK(fastest_all_reduce(1e3, many, kFabric) != AllReduce::ring);
  CHECK(all_reduce_seconds(AllReduce::ring, 1e3, many, kFabric) >
        100 * all_reduce_seconds(AllReduce::automatic, 1e3, many, kFabric));
}
