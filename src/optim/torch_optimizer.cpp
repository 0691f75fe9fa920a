#include "ddpkit/optim/torch_optimizer.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/empty.h>
#include <torch/optim/optimizer.h>
#include <torch/serialize.h>

#include <cmath>
#include <cstring>
#include <sstream>
#include <string>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/optim/grad_norm.hpp"

namespace ddpkit {
namespace {

constexpr const char* kTorchUpdatesName = "updates";
constexpr const char* kTorchArchiveName = "torch_optimizer";

at::Tensor bytes_as_tensor(const std::string& bytes) {
  at::Tensor tensor = at::empty({static_cast<std::int64_t>(bytes.size())}, at::kByte);
  std::memcpy(tensor.mutable_data_ptr(), bytes.data(), bytes.size());
  return tensor;
}

const at::Tensor& entry_of(std::span<const NamedTensor> state, const std::string& name) {
  for (const NamedTensor& entry : state)
    if (entry.name == name) return entry.tensor;
  throw DataError(text("optimizer state: ", name, " is missing; was it saved by another optimizer?"));
}

}  // namespace

TorchOptimizer::TorchOptimizer(torch::optim::Optimizer& optimizer)
    : optimizer_(optimizer), default_lr_(optimizer.defaults().get_lr()) {
  meet_new_groups();
}

void TorchOptimizer::meet_new_groups() {
  auto& groups = optimizer_.param_groups();
  for (std::size_t i = lr_factors_.size(); i < groups.size(); ++i)
    lr_factors_.push_back(default_lr_ == 0 ? 1 : groups[i].options().get_lr() / default_lr_);
}

void TorchOptimizer::set_lr(double lr) {
  meet_new_groups();
  auto& groups = optimizer_.param_groups();
  for (std::size_t i = 0; i < groups.size(); ++i) groups[i].options().set_lr(lr * lr_factors_[i]);
}

std::vector<at::Tensor> TorchOptimizer::defined_gradients() const {
  std::vector<at::Tensor> gradients;
  for (auto& group : optimizer_.param_groups())
    for (auto& parameter : group.params())
      if (parameter.grad().defined()) gradients.push_back(parameter.grad());
  return gradients;
}

double TorchOptimizer::step(const UpdateContext& context) {
  set_lr(context.lr);
  const std::vector<at::Tensor> gradients = defined_gradients();
  const double norm = context.grad_scale * global_norm(gradients);
  if (!std::isfinite(norm)) return norm;
  if (const double scale = scale_after_clipping(context, norm); scale != 1 && !gradients.empty()) {
    const at::NoGradGuard no_grad;
    at::_foreach_mul_(gradients, scale);
  }
  optimizer_.step();
  ++updates_;
  return norm;
}

void TorchOptimizer::zero_grad() {
  optimizer_.zero_grad(/*set_to_none=*/true);
}

std::vector<NamedTensor> TorchOptimizer::state() {
  std::ostringstream archive;
  torch::save(optimizer_, archive);
  return {{kTorchUpdatesName, at::empty({}, at::kLong).fill_(updates_)},
          {kTorchArchiveName, bytes_as_tensor(std::move(archive).str())}};
}

void TorchOptimizer::load_state(std::span<const NamedTensor> state) {
  const std::int64_t updates = entry_of(state, kTorchUpdatesName).item<std::int64_t>();
  const at::Tensor& bytes = entry_of(state, kTorchArchiveName);
  std::istringstream archive(
      std::string(static_cast<const char*>(bytes.const_data_ptr()), static_cast<std::size_t>(bytes.numel())));
  torch::load(optimizer_, archive);
  updates_ = updates;
}

}  // namespace ddpkit
