#include "ddpkit/data/loader.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include "ddpkit/comm/make_communicator.hpp"
#include "ddpkit/data/shuffle_order.hpp"
#include "support/catch.hpp"
#include "unit/data/numbered.hpp"

using namespace ddpkit;

namespace {

// How often each sample was seen, over all ranks.
std::vector<std::int64_t> summed(std::vector<std::int64_t> counts, Communicator& comm) {
  comm.all_reduce(std::span(counts), ReduceOp::sum).wait();
  return counts;
}

std::vector<std::int64_t> seen_in(const Window& window, std::int64_t samples) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(samples));
  for (std::int64_t index = 0; index < window.micro_batches(); ++index) {
    const auto held = window.fetch(index);
    const HostBatch& batch = *held;
    REQUIRE(rows_match_ids(batch));
    for (const std::int64_t id : batch.ids) ++counts[static_cast<std::size_t>(id)];
  }
  return counts;
}

LoaderOptions options_for(const Topology& topology, Tail tail) {
  return {.sampler = {.global = 12, .tail = tail, .rank = topology.rank, .world_size = topology.world_size}, .micro = 2};
}

}  // namespace

TEST_CASE("all ranks together see exactly the samples of each window") {
  const auto comm = make_communicator();
  const InMemoryDataset data = numbered(50);
  const ShuffleOrder order(50, 3);
  for (const Tail tail : {Tail::drop, Tail::pad, Tail::partial}) {
    Loader loader(data, order, options_for(comm->topology(), tail));
    for (int i = 0; i < 6; ++i) {
      const Window window = loader.next_window();
      std::vector<std::int64_t> expected(50);
      for (std::int64_t position = window.range().begin; position < window.range().end; ++position)
        ++expected[static_cast<std::size_t>(order.at(window.range().epoch, position))];
      CHECK(summed(seen_in(window, 50), *comm) == expected);
      CHECK(summed({window.micro_batches()}, *comm)[0] == window.micro_batches() * comm->topology().world_size);
    }
  }
}

TEST_CASE("the fingerprint of a data set is the same on all ranks") {
  const auto comm = make_communicator();
  const auto mine = static_cast<std::int64_t>(numbered(50).fingerprint() >> 8);  // leaves room for the sum
  CHECK(summed({mine}, *comm)[0] == mine * comm->topology().world_size);
}
