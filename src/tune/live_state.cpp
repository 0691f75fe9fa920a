#include "tune/live_state.hpp"

#include <ATen/Functions.h>
#include <ATen/core/grad_mode.h>

namespace ddpkit {
namespace {

std::vector<at::Tensor> defined_weights(const Model& model) {
  std::vector<at::Tensor> weights;
  for (NamedTensor& item : model.weights())
    if (item.tensor.defined()) weights.push_back(std::move(item.tensor));
  return weights;
}

}  // namespace

HostCopy::HostCopy(const at::Tensor& tensor)
    : sizes_(tensor.sizes().vec()), strides_(tensor.strides().vec()), options_(tensor.options()), bytes_(tensor.nbytes()) {
  const at::NoGradGuard no_graph;
  if (!bytes_.empty()) view().copy_(tensor.detach());
}

/// Dense, whatever the strides of the tensor.
at::Tensor HostCopy::view() const {
  return at::from_blob(const_cast<std::byte*>(bytes_.data()), sizes_, options_.device(at::kCPU).requires_grad(false));
}

void HostCopy::write_to(at::Tensor tensor) const {
  const at::NoGradGuard no_graph;
  if (tensor.sizes() != at::IntArrayRef(sizes_))
    tensor.set_data(make());
  else if (!bytes_.empty())
    tensor.copy_(view());
}

at::Tensor HostCopy::make() const {
  at::Tensor tensor = at::empty_strided(sizes_, strides_, options_.requires_grad(false));
  if (!bytes_.empty()) tensor.copy_(view());
  return tensor;
}

LiveState::LiveState(Model model, c10::Device device) : model_(std::move(model)), modes_(model_.modes()), generators_(device) {
  for (const at::Tensor& tensor : defined_weights(model_)) weights_.emplace_back(tensor);
  for (const NamedTensor& parameter : model_.parameters()) {
    const at::Tensor gradient = parameter.tensor.grad();
    gradients_.push_back(gradient.defined() ? std::optional<HostCopy>(gradient) : std::nullopt);
    parameter.tensor.mutable_grad().reset();
  }
}

LiveState::~LiveState() {
  restore_weights();
  restore_gradients();
  generators_.restore();
  model_.set_modes(modes_);
}

void LiveState::restore_weights() noexcept {
  const std::vector<at::Tensor> now = defined_weights(model_);
  for (std::size_t i = 0; i < now.size() && i < weights_.size(); ++i) weights_[i].write_to(now[i]);
}

void LiveState::restore_gradients() {
  const std::vector<NamedTensor> now = model_.parameters();
  for (std::size_t i = 0; i < now.size() && i < gradients_.size(); ++i)
    now[i].tensor.mutable_grad() = gradients_[i] ? gradients_[i]->make() : at::Tensor();
}

}  // namespace ddpkit
