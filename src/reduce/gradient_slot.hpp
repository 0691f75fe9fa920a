#pragma once

#include <ATen/core/Tensor.h>

#include "reduce/squared_norm.hpp"

// A gradient and its slot in a bucket. What is done to them leaves no graph, also in a backward that records one.
namespace ddpkit {

/// Whether the gradient is the slot itself.
bool is_slot(const at::Tensor& gradient, const at::Tensor& slot);

/// Whether their elements lie alike, which autograd sees to for dense parameters.
bool lie_alike(const at::Tensor& slot, const at::Tensor& gradient);

/// One pass over both where they lie alike.
void copy_gradient(const at::Tensor& slot, const at::Tensor& gradient);

void add_gradient(const at::Tensor& slot, const at::Tensor& gradient);

void clear_slot(const at::Tensor& slot);

SquaredNorm norm_of(const at::Tensor& gradient);

}  // namespace ddpkit
