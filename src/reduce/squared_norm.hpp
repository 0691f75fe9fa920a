#pragma once

#include <ATen/core/Tensor.h>

namespace ddpkit {

/// A squared norm: a number on a CPU, where tensors without dimensions would cost more than the arithmetic; elsewhere a tensor,
/// so that nobody waits for it.
struct SquaredNorm {
  double host = 0;
  at::Tensor device{};
};

/// Sum of squares of a dense tensor. Added up in the tensor's own type, or in
/// float32 where that is wider: enough for statistics, not for deciding what is finite.
SquaredNorm squared_norm(const at::Tensor& dense);

/// Copies `from` to `to`, both float32, dense and with equal strides on a CPU, and returns the squared norm: in one pass, which
/// costs little more than the copy alone.
double copy_measured(const at::Tensor& to, const at::Tensor& from);

}  // namespace ddpkit
