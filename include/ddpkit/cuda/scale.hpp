#pragma once

#include "ddpkit/comm/buffer.hpp"

namespace ddpkit {

/// Multiplies every element by `factor`, in place: in float32 for float32 and the 16-bit types, which are rounded once, in
/// float64 for float64. On CUDA asynchronous, on the buffer's stream. Throws UsageError for integers.
void scale(const Buffer& data, double factor);

}  // namespace ddpkit
