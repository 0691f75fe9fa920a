#pragma once

#include <array>
#include <cstdint>

#include "ddpkit/base/dtype.hpp"

namespace ddpkit {

/// Elements of a tensor, in the order of memory, whose squares make one partial sum of its norm; the last block is shorter. A
/// global norm is the root of all partial sums added one by one, block by block and tensor by tensor, so whoever has a block
/// may square it. Not so large that a small model's blocks could not be shared among ranks and threads.
inline constexpr std::int64_t kNormBlock = 16384;

/// The sum of squares of one block, in double. Its bits depend neither on the pieces the block comes in nor on how wide the
/// machine's vectors are. Not finite exactly when an element is not finite or a float64 one is beyond 1e154.
class BlockSquares {
 public:
  static constexpr std::int64_t kLanes = 32;  ///< element i of a block is added in lane i modulo kLanes

  /// Takes the next elements of the block, in host memory. Every piece but the last is a multiple of kLanes. Throws UsageError
  /// for integers.
  void add(const void* elements, DType dtype, std::int64_t count);

  double sum() const noexcept;

 private:
  alignas(64) std::array<double, kLanes> lanes_{};
};

}  // namespace ddpkit
