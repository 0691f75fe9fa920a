#pragma once

#include <ATen/core/Tensor.h>

namespace ddpkit {

/// Sum of squares of a dense tensor, as a tensor without dimensions on its device. Single pass, added up in the tensor's own
/// type or in float32 where that is wider: enough for statistics, not for deciding what is finite.
at::Tensor squared_norm(const at::Tensor& dense);

}  // namespace ddpkit
