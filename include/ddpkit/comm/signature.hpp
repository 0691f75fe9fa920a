#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "ddpkit/base/dtype.hpp"

namespace ddpkit {

/// What ranks do together.
enum class Collective : std::uint8_t { all_reduce, reduce_scatter, all_gather, broadcast, barrier, allocate, split, close };

std::string_view name_of(Collective kind);

/// What must be equal on all ranks for one operation. Backends compare it to tell which rank called something else.
struct Signature {
  Collective kind = Collective::barrier;
  DType dtype = DType::uint8;
  std::uint8_t detail = 0;  ///< the ReduceOp, where there is one
  std::uint32_t root = 0;   ///< of a broadcast
  std::uint64_t count = 0;  ///< elements of the smaller side

  std::uint64_t bytes() const noexcept { return count * size_of(dtype); }
  friend bool operator==(const Signature&, const Signature&) = default;
};

/// "all_reduce of 262144 float32 (sum)"
std::string describe(const Signature& signature);

}  // namespace ddpkit
