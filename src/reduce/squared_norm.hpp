#pragma once

#include <ATen/core/Tensor.h>

namespace ddpkit {

/// Sum of squares of a dense tensor, as a tensor without dimensions on its device. Added up in the tensor's own type, or in
/// float32 where that is wider: enough for statistics, not for deciding what is finite.
at::Tensor squared_norm(const at::Tensor& dense);

/// Copies `from` to `to`, both float32, dense and with equal strides on a CPU, and returns the squared norm: in one pass, which
/// costs little more than the copy alone.
at::Tensor copy_measured(const at::Tensor& to, const at::Tensor& from);

}  // namespace ddpkit
