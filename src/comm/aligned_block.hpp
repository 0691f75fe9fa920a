#pragma once

#include "ddpkit/comm/memory.hpp"

namespace ddpkit {

/// Plain memory of this process, aligned to a cache line.
class AlignedBlock final : public Memory::Block {
 public:
  AlignedBlock(std::size_t bytes, std::uint64_t block_id);
  ~AlignedBlock() override;
  AlignedBlock(const AlignedBlock&) = delete;
  AlignedBlock& operator=(const AlignedBlock&) = delete;

  static constexpr std::size_t kAlignment = 64;
};

}  // namespace ddpkit
