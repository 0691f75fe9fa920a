#include "ddpkit/optim/grad_norm.hpp"

#include <algorithm>
#include <cmath>

#include "optim/norm_sum.hpp"

namespace ddpkit {

double global_norm(std::span<const at::Tensor> gradients) {
  NormSum sum;
  for (const at::Tensor& gradient : gradients)
    if (gradient.defined()) sum.add(gradient);
  return std::sqrt(sum.sum());
}

double clip_factor(double norm, double max_norm) {
  return std::min(1.0, max_norm / (norm + 1e-6));
}

double scale_after_clipping(const UpdateContext& context, double norm) {
  return context.clip_norm > 0 ? context.grad_scale * clip_factor(norm, context.clip_norm) : context.grad_scale;
}

bool all_finite(std::span<const at::Tensor> gradients) {
  return std::isfinite(global_norm(gradients));
}

}  // namespace ddpkit
