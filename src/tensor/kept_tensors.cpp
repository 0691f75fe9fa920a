#include "ddpkit/tensor/kept_tensors.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty_like.h>

#include <algorithm>

#include "ddpkit/tensor/copy_into.hpp"

namespace ddpkit {
namespace {

bool same_kind(const NamedTensor& a, const NamedTensor& b) {
  return a.name == b.name && a.tensor.sizes() == b.tensor.sizes() && a.tensor.strides() == b.tensor.strides() &&
         a.tensor.scalar_type() == b.tensor.scalar_type() && a.tensor.device() == b.tensor.device();
}

}  // namespace

bool KeptTensors::fits(std::span<const NamedTensor> tensors) const {
  return std::ranges::equal(copies_, tensors, same_kind);
}

void KeptTensors::keep(std::span<const NamedTensor> tensors) {
  const at::NoGradGuard no_graph;
  holds_ = false;
  if (!fits(tensors)) {
    copies_.clear();
    for (const auto& [name, tensor] : tensors) copies_.push_back({name, at::empty_like(tensor)});
  }
  for (std::size_t i = 0; i < tensors.size(); ++i) copies_[i].tensor.copy_(tensors[i].tensor);
  holds_ = true;
}

void KeptTensors::put_back(std::span<const NamedTensor> tensors) const {
  if (holds_) copy_into(tensors, copies_, Match::strict, "tensors kept from the start of the window");
}

}  // namespace ddpkit
