#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ddpkit {

/// What the plan needs to know of a parameter.
struct ShardSpec {
  std::int64_t elements = 0;
  std::size_t element_bytes = 4;
};

/// Elements of one parameter, in order of memory, that one rank updates.
struct ShardBlock {
  std::size_t parameter = 0;
  std::int64_t begin = 0;
  std::int64_t count = 0;

  friend bool operator==(const ShardBlock&, const ShardBlock&) = default;
};

/// Which rank updates what, and where it lies in one flat piece of memory that holds all parameters.
struct ShardPlan {
  struct Run {
    std::size_t begin = 0;  ///< bytes
    std::size_t end = 0;
    std::size_t bytes() const noexcept { return end - begin; }
  };

  std::vector<std::size_t> offsets;      ///< of each parameter, in bytes: a multiple of 64
  std::size_t bytes = 0;                 ///< of all of them, with the gaps
  std::vector<ShardBlock> blocks;        ///< of all parameters, in their order
  std::vector<std::size_t> first_block;  ///< of each rank, and behind the last one their number
  std::vector<Run> runs;                 ///< what lies from each rank's first block to its last

  std::span<const ShardBlock> of(int rank) const noexcept {
    const std::size_t begin = first_block[static_cast<std::size_t>(rank)];
    return std::span(blocks).subspan(begin, first_block[static_cast<std::size_t>(rank) + 1] - begin);
  }
  std::size_t largest_run() const noexcept;  ///< in bytes
  std::size_t most_blocks_of_a_rank() const noexcept;
};

/// Cuts parameters into blocks of `block_elements`, the last of each parameter being shorter, and gives each rank the next ones
/// until it has its part of the bytes: no rank has more than a block too much. Pure.
ShardPlan plan_shards(std::span<const ShardSpec> parameters, std::int64_t block_elements, int ranks);

}  // namespace ddpkit
