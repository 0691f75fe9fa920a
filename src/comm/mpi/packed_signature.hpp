#pragma once

#include <cstdint>

#include "ddpkit/comm/signature.hpp"

namespace ddpkit::mpi {

/// All of a signature but its count in one word, as it lies in shared memory.
constexpr std::uint64_t pack(const Signature& signature) noexcept {
  return static_cast<std::uint64_t>(signature.root) << 32 | static_cast<std::uint64_t>(signature.kind) << 16 |
         static_cast<std::uint64_t>(signature.dtype) << 8 | signature.detail;
}

constexpr Signature unpack(std::uint64_t what, std::uint64_t count) noexcept {
  return {static_cast<Collective>(what >> 16 & 0xff), static_cast<DType>(what >> 8 & 0xff), static_cast<std::uint8_t>(what),
          static_cast<std::uint32_t>(what >> 32), count};
}

}  // namespace ddpkit::mpi
