#pragma once

#include <ATen/core/Tensor.h>

#include <span>

#include "ddpkit/optim/update_context.hpp"

namespace ddpkit {

/// The 2-norm of all gradients together; undefined ones are passed over. float32, float64, float16 and bfloat16; UsageError for
/// others. Not finite exactly when a gradient is not finite, or when the sum of squares of float64 values is beyond double's
/// range: so one pass answers both questions.
/// Squares are added in double within blocks of 16384 elements of a tensor, then block by block in the order given. On a CPU
/// the result is therefore the same to the bit for any number of threads and however gradients are packed into buckets. CUDA
/// gradients go through LibTorch's own operators, in its order; the host waits for the value.
double global_norm(std::span<const at::Tensor> gradients);

/// What gradients of this norm are multiplied by so that it becomes `max_norm` at most: min(1, max_norm / (norm + 1e-6)), the
/// same as torch's clip_grad_norm_.
double clip_factor(double norm, double max_norm);

/// What the gradients are still to be multiplied by in an update: `context.grad_scale`, and less where the norm, which that
/// scale is part of already, is above `context.clip_norm`.
double scale_after_clipping(const UpdateContext& context, double norm);

/// Whether global_norm of the gradients is finite.
bool all_finite(std::span<const at::Tensor> gradients);

}  // namespace ddpkit
