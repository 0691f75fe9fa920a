#pragma once

#include <cstddef>
#include <span>

#include "ddpkit/base/dtype.hpp"
#include "ddpkit/comm/communicator.hpp"

namespace ddpkit {

/// Combines element by element what lies at `sources`, in their order, and writes the result to all of `targets`. A target is
/// one of the sources, or overlaps none. Each element's result depends on nothing but its own inputs, so that any cut into
/// pieces gives the same bits, as do vectors of any width. 16-bit floats are summed in float32 and rounded once. `mean` divides
/// by the number of sources. Needs no alignment.
void reduce_onto(std::span<const std::byte* const> sources, std::span<std::byte* const> targets, DType dtype, ReduceOp op,
                 std::size_t count);

}  // namespace ddpkit
