#include "ddpkit/optim/fused_optimizer.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/optim/grad_norm.hpp"
#include "ddpkit/tensor/as_buffer.hpp"
#include "ddpkit/tensor/copy_into.hpp"
#include "optim/norm_sum.hpp"
#include "optim/update_batches.hpp"

namespace ddpkit {
namespace {

constexpr const char* kUpdatesName = "updates";

// The kernels walk memory, not indices: two tensors go together when equal indices lie at equal offsets.
bool same_memory_order(const at::Tensor& a, const at::Tensor& b) {
  if (a.sizes() != b.sizes() || !a.is_non_overlapping_and_dense() || !b.is_non_overlapping_and_dense()) return false;
  for (std::int64_t d = 0; d < a.dim(); ++d)
    if (a.size(d) > 1 && a.stride(d) != b.stride(d)) return false;
  return true;
}

bool fits(const at::Tensor& gradient, const at::Tensor& parameter) {
  return gradient.scalar_type() == parameter.scalar_type() && same_memory_order(gradient, parameter);
}

void require_dense(const std::string& name, const at::Tensor& gradient) {
  if (gradient.layout() != at::kStrided)
    throw UsageError(text("the gradient of ", name,
                          " is sparse; fused optimizers need dense ones (build the embedding with "
                          "sparse(false))"));
}

std::vector<ParameterShape> shapes_of(std::span<const NamedTensor> parameters) {
  std::vector<ParameterShape> shapes;
  for (const auto& [name, tensor] : parameters) shapes.push_back({name, tensor.sizes().vec()});
  return shapes;
}

std::vector<NamedTensor> checked_and_unique(std::vector<NamedTensor> parameters) {
  std::set<std::string_view> names;
  std::set<const void*> seen;
  std::vector<NamedTensor> unique;
  for (const auto& parameter : parameters) {
    const auto& [name, tensor] = parameter;
    if (!names.insert(name).second) throw UsageError(text("two parameters are called ", name));
    if (!tensor.is_non_overlapping_and_dense())
      throw UsageError(text("parameter ", name, " of shape ", tensor.sizes(), " with strides ", tensor.strides(),
                            " has gaps or overlaps in memory; register a contiguous tensor"));
    if (seen.insert(tensor.unsafeGetTensorImpl()).second) unique.push_back(parameter);
  }
  return unique;
}

}  // namespace

FusedOptimizer::FusedOptimizer(std::vector<NamedTensor> parameters, const OptimizerOptions& options)
    : options_(options), moment_names_(ddpkit::moment_names(options)), batches_(std::make_unique<UpdateBatches>()) {
  set_parameters(std::move(parameters));
}

FusedOptimizer::~FusedOptimizer() = default;

void FusedOptimizer::set_parameters(std::vector<NamedTensor> parameters) {
  parameters = checked_and_unique(std::move(parameters));
  std::vector<GroupPlan> groups = plan_groups(shapes_of(parameters), options_);
  std::vector<Slot> slots;
  for (auto& [name, tensor] : parameters) {
    const auto old = std::find_if(slots_.begin(), slots_.end(), [&](const Slot& slot) { return slot.name == name; });
    const bool keeps_state = old != slots_.end() && same_memory_order(old->parameter, tensor) &&
                             old->parameter.scalar_type() == tensor.scalar_type() && old->parameter.device() == tensor.device();
    Slot& slot = slots.emplace_back(keeps_state ? *old : Slot{});
    slot.name = name;
    slot.parameter = tensor;
  }
  for (std::size_t i = 0; i < groups.size(); ++i)
    for (const std::size_t member : groups[i].members) slots[member].group = i;
  slots_ = std::move(slots);
  groups_ = std::move(groups);
}

FusedOptimizer::SlotState FusedOptimizer::make_state(const at::Tensor& parameter) const {
  SlotState state;
  for (std::size_t i = 0; i < moment_names_.size(); ++i) state.moments.push_back(at::zeros_like(parameter));
  if (!moment_names_.empty()) state.step = at::zeros({}, at::kFloat);
  return state;
}

void FusedOptimizer::prepare() {
  const at::NoGradGuard no_grad;
  std::vector<std::pair<Slot*, SlotState>> fresh;
  for (Slot& slot : slots_) {
    const bool trains = slot.parameter.requires_grad() || slot.parameter.grad().defined();
    if (!trains || slot.state) continue;
    fresh.emplace_back(&slot, make_state(slot.parameter));
  }
  for (auto& [slot, state] : fresh) slot->state = std::move(state);
}

void FusedOptimizer::add_to_batch(const Slot& slot, const at::Tensor& gradient) {
  UpdateStrip whole{.parameter = slot.parameter.mutable_data_ptr(), .gradient = gradient.const_data_ptr()};
  for (std::size_t i = 0; i < moment_names_.size(); ++i) whole.moments[i] = slot.state->moments[i].mutable_data_ptr();
  whole.count = slot.parameter.numel();
  batches_->add({.group = slot.group,
                 .updates = slot.updates + 1,
                 .dtype = dtype_of_tensor(slot.parameter),
                 .device = slot.parameter.device()},
                whole);
}

double FusedOptimizer::gather(std::vector<at::Tensor>& reordered) {
  NormSum squares;
  batches_->clear();
  for (const Slot& slot : slots_) {
    const at::Tensor* gradient = &slot.parameter.grad();
    if (!gradient->defined()) continue;
    require_dense(slot.name, *gradient);
    if (!fits(*gradient, slot.parameter)) gradient = &reordered.emplace_back(at::empty_like(slot.parameter).copy_(*gradient));
    squares.add(*gradient);
    add_to_batch(slot, *gradient);
  }
  return std::sqrt(squares.sum());
}

void FusedOptimizer::count_updates() {
  for (Slot& slot : slots_) {
    if (!slot.parameter.grad().defined()) continue;
    ++slot.updates;
    slot.parameter.unsafeGetTensorImpl()->bump_version();  // as an operator would, for graphs that saved the parameter
  }
  ++updates_;
}

double FusedOptimizer::step(const UpdateContext& context) {
  const at::NoGradGuard no_grad;
  prepare();
  std::vector<at::Tensor> reordered;  // gradients that lie in memory in another order than their parameters
  const double norm = context.grad_scale * gather(reordered);
  if (!std::isfinite(norm)) return norm;
  const double scale = scale_after_clipping(context, norm);
  for (const UpdateBatch& batch : batches_->all())
    run_update(make_rule(options_, groups_[batch.key.group], context, scale, batch.key.updates), batch);
  count_updates();
  return norm;
}

void FusedOptimizer::zero_grad() {
  for (Slot& slot : slots_) slot.parameter.mutable_grad().reset();
}

std::vector<NamedTensor> FusedOptimizer::named_state(const Slot& slot) const {
  std::vector<NamedTensor> named;
  if (!slot.state || !slot.state->step.defined()) return named;
  *slot.state->step.mutable_data_ptr<float>() = static_cast<float>(slot.updates);
  for (std::size_t i = 0; i < moment_names_.size(); ++i)
    named.push_back({text(slot.name, ".", moment_names_[i]), slot.state->moments[i]});
  named.push_back({text(slot.name, ".step"), slot.state->step});
  return named;
}

std::vector<NamedTensor> FusedOptimizer::state() {
  prepare();
  std::vector<NamedTensor> all{{kUpdatesName, at::empty({}, at::kLong).fill_(updates_)}};
  for (const Slot& slot : slots_)
    for (NamedTensor& named : named_state(slot)) all.push_back(std::move(named));
  return all;
}

void FusedOptimizer::load_state(std::span<const NamedTensor> loaded) {
  // A parameter that is frozen here may have been trained before it was saved.
  std::set<std::string_view> names;
  for (const NamedTensor& named : loaded) names.insert(named.name);
  std::vector<Slot*> frozen;
  for (Slot& slot : slots_)
    if (!slot.state && !slot.parameter.requires_grad() && names.contains(text(slot.name, ".step"))) frozen.push_back(&slot);

  std::vector<NamedTensor> own;
  try {
    for (Slot* slot : frozen) slot->state = make_state(slot->parameter);
    own = state();
    copy_into(own, loaded, Match::strict, "optimizer state");
  } catch (...) {
    for (Slot* slot : frozen) slot->state.reset();
    throw;
  }
  updates_ = own.front().tensor.item<std::int64_t>();
  for (Slot& slot : slots_)
    if (slot.state && slot.state->step.defined()) slot.updates = static_cast<std::int64_t>(slot.state->step.item<float>());
}

}  // namespace ddpkit
