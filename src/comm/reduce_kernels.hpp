#pragma once

#include <cstddef>
#include <span>

#include "ddpkit/base/dtype.hpp"
#include "ddpkit/comm/communicator.hpp"

namespace ddpkit {

/// Combines element by element what lies at `sources`, in their order, and writes the result to all of `targets`, which may be
/// the sources themselves. Each element's result depends on nothing but its own inputs, so that any cut into pieces gives the
/// same bits. 16-bit floats are summed in float32 and rounded once. In pieces that fit the first cache. `mean` divides by the
/// number of sources.
void reduce_onto(std::span<const std::byte* const> sources, std::span<std::byte* const> targets, DType dtype, ReduceOp op,
                 std::size_t count);

}  // namespace ddpkit
