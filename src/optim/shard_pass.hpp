#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "ddpkit/comm/communicator.hpp"
#include "optim/update_rule.hpp"

namespace ddpkit {

/// Ranks of a node whose copies can be combined where they lie.
inline constexpr std::size_t kMostCopies = 512;

/// The gradient of a parameter as the ranks have it: one copy of each, or a single one that is reduced already.
struct GradientCopies {
  std::span<const std::byte* const> copies;  ///< empty: no rank used the parameter
  ReduceOp op = ReduceOp::sum;
  DType dtype = DType::float32;
};

/// A block of a parameter and of what belongs to it.
struct BlockPlace {
  std::size_t first = 0;  ///< bytes into the gradient's copies
  std::int64_t count = 0;
  std::byte* parameter = nullptr;
  std::array<std::byte*, 2> moments{};
};

/// The block's squared norm, of the combined gradient. Reads only.
double square_block(const GradientCopies& gradient, const BlockPlace& block);

/// Combines, squares and applies the rule in one pass over memory; returns the squared norm as square_block does.
double update_block(const UpdateRule& rule, const GradientCopies& gradient, const BlockPlace& block);

}  // namespace ddpkit
