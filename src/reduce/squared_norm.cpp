#include "reduce/squared_norm.hpp"

#include <ATen/ops/dot.h>
#include <ATen/ops/linalg_vector_norm.h>

namespace ddpkit {

at::Tensor squared_norm(const at::Tensor& dense) {
  const at::Tensor flat = dense.as_strided({dense.numel()}, {1});
  if (flat.scalar_type() == at::kFloat || flat.scalar_type() == at::kDouble) return at::dot(flat, flat);
  return at::linalg_vector_norm(flat, 2, at::OptionalIntArrayRef(), false, at::kFloat).square();
}

}  // namespace ddpkit
