#include "ddpkit/optim/shard_plan.hpp"

#include <algorithm>

namespace ddpkit {
namespace {

constexpr std::size_t kLine = 64;  // a cache line: no two parameters share one

void append_blocks_of(std::size_t parameter, std::int64_t elements, std::int64_t block_elements,
                      std::vector<ShardBlock>& blocks) {
  for (std::int64_t begin = 0; begin < elements; begin += block_elements)
    blocks.push_back({parameter, begin, std::min(block_elements, elements - begin)});
}

std::size_t bytes_of(const ShardBlock& block, std::span<const ShardSpec> parameters) {
  return static_cast<std::size_t>(block.count) * parameters[block.parameter].element_bytes;
}

/// Each cut where the bytes before it come nearest to the rank's part of all.
std::vector<std::size_t> cut(const std::vector<ShardBlock>& blocks, std::span<const ShardSpec> parameters, int ranks) {
  std::size_t total = 0;
  for (const ShardBlock& block : blocks) total += bytes_of(block, parameters);
  std::vector<std::size_t> first{0};
  std::size_t before = 0;
  std::size_t next = 0;
  for (int rank = 1; rank < ranks; ++rank) {
    const double wanted = static_cast<double>(total) * rank / ranks;
    for (; next < blocks.size(); ++next) {
      const auto bytes = static_cast<double>(bytes_of(blocks[next], parameters));
      if (static_cast<double>(before) + bytes / 2 > wanted) break;
      before += bytes_of(blocks[next], parameters);
    }
    first.push_back(next);
  }
  first.push_back(blocks.size());
  return first;
}

ShardPlan::Run run_of(std::span<const ShardBlock> blocks, const ShardPlan& plan, std::span<const ShardSpec> parameters) {
  if (blocks.empty()) return {};
  const auto place = [&](const ShardBlock& block) {
    return plan.offsets[block.parameter] + static_cast<std::size_t>(block.begin) * parameters[block.parameter].element_bytes;
  };
  return {place(blocks.front()), place(blocks.back()) + bytes_of(blocks.back(), parameters)};
}

}  // namespace

std::size_t ShardPlan::largest_run() const noexcept {
  std::size_t largest = 0;
  for (const Run& run : runs) largest = std::max(largest, run.bytes());
  return largest;
}

std::size_t ShardPlan::most_blocks_of_a_rank() const noexcept {
  std::size_t most = 0;
  for (std::size_t rank = 0; rank + 1 < first_block.size(); ++rank)
    most = std::max(most, first_block[rank + 1] - first_block[rank]);
  return most;
}

ShardPlan plan_shards(std::span<const ShardSpec> parameters, std::int64_t block_elements, int ranks) {
  ShardPlan plan;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    plan.offsets.push_back(plan.bytes);
    const std::size_t bytes = static_cast<std::size_t>(parameters[i].elements) * parameters[i].element_bytes;
    plan.bytes += (bytes + kLine - 1) / kLine * kLine;
    append_blocks_of(i, parameters[i].elements, block_elements, plan.blocks);
  }
  plan.first_block = cut(plan.blocks, parameters, ranks);
  for (int rank = 0; rank < ranks; ++rank) plan.runs.push_back(run_of(plan.of(rank), plan, parameters));
  return plan;
}

}  // namespace ddpkit
