#include "reduce/gradient_slot.hpp"

#include <ATen/core/grad_mode.h>

#include <cstring>

namespace ddpkit {

bool lie_alike(const at::Tensor& slot, const at::Tensor& gradient) {
  return gradient.is_cpu() && gradient.scalar_type() == slot.scalar_type() && gradient.strides() == slot.strides() &&
         gradient.is_non_overlapping_and_dense();
}

void copy_gradient(const at::Tensor& slot, const at::Tensor& gradient) {
  if (lie_alike(slot, gradient)) {
    std::memcpy(slot.mutable_data_ptr(), gradient.const_data_ptr(), gradient.nbytes());
    return;
  }
  const at::NoGradGuard no_graph;
  slot.copy_(gradient);
}

void add_gradient(const at::Tensor& slot, const at::Tensor& gradient) {
  const at::NoGradGuard no_graph;
  slot.add_(gradient);
}

void clear_slot(const at::Tensor& slot) {
  const at::NoGradGuard no_graph;
  slot.zero_();
}

bool is_slot(const at::Tensor& gradient, const at::Tensor& slot) {
  return gradient.defined() && slot.numel() > 0 && gradient.const_data_ptr() == slot.const_data_ptr();
}

SquaredNorm norm_of(const at::Tensor& gradient) {
  const at::NoGradGuard no_graph;
  return squared_norm(gradient.is_non_overlapping_and_dense() ? gradient : gradient.contiguous());
}

}  // namespace ddpkit
