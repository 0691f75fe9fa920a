#include "ddpkit/optim/shard_plan.hpp"

#include "support/catch.hpp"

namespace {

using namespace ddpkit;

std::size_t bytes_of_rank(const ShardPlan& plan, std::span<const ShardSpec> parameters, int rank) {
  std::size_t bytes = 0;
  for (const ShardBlock& block : plan.of(rank))
    bytes += static_cast<std::size_t>(block.count) * parameters[block.parameter].element_bytes;
  return bytes;
}

}  // namespace

TEST_CASE("parameters are cut into blocks that never reach over two of them") {
  const std::vector<ShardSpec> parameters{{.elements = 10}, {.elements = 0}, {.elements = 4}, {.elements = 9}};
  const ShardPlan plan = plan_shards(parameters, 4, 1);
  const std::vector<ShardBlock> expected{{0, 0, 4}, {0, 4, 4}, {0, 8, 2}, {2, 0, 4}, {3, 0, 4}, {3, 4, 4}, {3, 8, 1}};
  CHECK((plan.blocks == expected));  // blocks cannot be printed
  CHECK(plan.of(0).size() == expected.size());
}

TEST_CASE("parameters begin on cache lines, whatever their type") {
  const std::vector<ShardSpec> parameters{
      {.elements = 3, .element_bytes = 2}, {.elements = 17, .element_bytes = 4}, {.elements = 8, .element_bytes = 8}};
  const ShardPlan plan = plan_shards(parameters, 4, 2);
  CHECK(plan.offsets == std::vector<std::size_t>{0, 64, 192});
  CHECK(plan.bytes == 256);
}

TEST_CASE("ranks own consecutive blocks, all of them together, and none more than a block too much") {
  const std::vector<ShardSpec> parameters{
      {.elements = 1000}, {.elements = 7}, {.elements = 3000, .element_bytes = 2}, {.elements = 450}};
  std::size_t total = 0;
  for (const ShardSpec& spec : parameters) total += static_cast<std::size_t>(spec.elements) * spec.element_bytes;
  for (const int ranks : {1, 2, 3, 4, 7}) {
    CAPTURE(ranks);
    const ShardPlan plan = plan_shards(parameters, 100, ranks);
    CHECK(plan.first_block.front() == 0);
    CHECK(plan.first_block.back() == plan.blocks.size());
    for (int rank = 0; rank < ranks; ++rank)
      CHECK(bytes_of_rank(plan, parameters, rank) <= total / static_cast<std::size_t>(ranks) + 400);
  }
}

TEST_CASE("what a rank owns lies in one run") {
  const std::vector<ShardSpec> parameters{{.elements = 32}, {.elements = 32}};
  const ShardPlan plan = plan_shards(parameters, 16, 2);
  CHECK(plan.runs[0].begin == 0);
  CHECK(plan.runs[0].end == 128);
  CHECK(plan.runs[1].begin == 128);
  CHECK(plan.runs[1].end == 256);
  CHECK(plan.largest_run() == 128);
  CHECK(plan.most_blocks_of_a_rank() == 2);
}

TEST_CASE("with more ranks than blocks some own nothing, and with nothing to own none does") {
  const ShardPlan plan = plan_shards(std::vector<ShardSpec>{{.elements = 5}}, 8, 4);
  std::size_t owned = 0;
  for (int rank = 0; rank < 4; ++rank) owned += plan.of(rank).size();
  CHECK(owned == 1);
  const ShardPlan nothing = plan_shards({}, 8, 3);
  CHECK(nothing.bytes == 0);
  CHECK(nothing.of(2).empty());
}
