#include "ddpkit/optim/fused_optimizer.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_mul.h>
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
#include "ddpkit/tensor/copy_into.hpp"

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

at::Tensor gradient_for(const std::string& name, const at::Tensor& parameter) {
  const at::Tensor& gradient = parameter.grad();
  if (gradient.layout() != at::kStrided)
    throw UsageError(text("the gradient of ", name,
                          " is sparse; fused optimizers need dense ones (build the embedding with "
                          "sparse(false))"));
  if (same_memory_order(parameter, gradient)) return gradient;
  return at::empty_like(parameter).copy_(gradient);
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

FusedOptimizer::FusedOptimizer(std::vector<NamedTensor> parameters, const OptimizerOptions& options,
                               std::vector<std::string> moment_names)
    : options_(options), moment_names_(std::move(moment_names)) {
  set_parameters(std::move(parameters));
}

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
  if (!moment_names_.empty()) state.step = at::zeros({}, parameter.options().dtype(at::kFloat).requires_grad(false));
  return state;
}

void FusedOptimizer::prepare() {
  const at::NoGradGuard no_grad;
  std::vector<std::pair<Slot*, SlotState>> fresh;
  for (Slot& slot : slots_) {
    const bool trains = slot.parameter.requires_grad() || slot.parameter.grad().defined();
    if (!trains || slot.state) continue;
    scale_like(slot.parameter);
    fresh.emplace_back(&slot, make_state(slot.parameter));
  }
  for (auto& [slot, state] : fresh) slot->state = std::move(state);
}

// Kernels divide by a float32 value, which would cost a float64 parameter eight digits: its gradient is multiplied beforehand.
at::Tensor FusedOptimizer::scale_like(const at::Tensor& parameter) {
  const at::ScalarType type = parameter.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  for (const at::Tensor& scale : scales_)
    if (scale.scalar_type() == type && scale.device() == parameter.device()) return scale;
  return scales_.emplace_back(at::empty({}, parameter.options().dtype(type).requires_grad(false)));
}

FusedOptimizer::PlannedPass& FusedOptimizer::pass_for(std::vector<PlannedPass>& passes, const Slot& slot,
                                                      const UpdateContext& context) const {
  const bool first_update = slot.updates == 0;
  for (PlannedPass& pass : passes) {
    const at::Tensor& other = pass.parameters.front();
    if (pass.group == slot.group && pass.first_update == first_update && other.scalar_type() == slot.parameter.scalar_type() &&
        other.device() == slot.parameter.device())
      return pass;
  }
  PlannedPass& pass = passes.emplace_back();
  pass.group = slot.group;
  pass.first_update = first_update;
  pass.lr = context.lr * groups_[slot.group].lr_factor;
  pass.weight_decay = groups_[slot.group].weight_decay;
  pass.moments.resize(moment_names_.size());
  return pass;
}

std::vector<FusedOptimizer::PlannedPass> FusedOptimizer::plan_passes(const UpdateContext& context) {
  std::vector<PlannedPass> passes;
  for (Slot& slot : slots_) {
    if (!slot.parameter.grad().defined()) continue;
    at::Tensor gradient = gradient_for(slot.name, slot.parameter);
    PlannedPass& pass = pass_for(passes, slot, context);
    pass.slots.push_back(&slot);
    pass.parameters.push_back(slot.parameter);
    pass.gradients.push_back(std::move(gradient));
    for (std::size_t i = 0; i < moment_names_.size(); ++i) pass.moments[i].push_back(slot.state->moments[i]);
    if (slot.state->step.defined()) pass.steps.push_back(slot.state->step);
  }
  return passes;
}

void FusedOptimizer::set_scale(PlannedPass& pass, double grad_scale) {
  if (grad_scale == 1) return;
  at::Tensor scale = scale_like(pass.parameters.front());
  if (scale.scalar_type() == at::kDouble) {
    at::_foreach_mul_(pass.gradients, scale.fill_(grad_scale));
  } else {
    pass.grad_scale = grad_scale;
    pass.divisor = scale.fill_(1 / grad_scale);
  }
}

void FusedOptimizer::count_updates(PlannedPass& pass) {
  for (Slot* slot : pass.slots) ++slot->updates;
  if (pass.steps.empty()) return;
  if (!pass.steps.front().is_cpu()) return at::_foreach_add_(pass.steps, 1);
  for (std::size_t i = 0; i < pass.slots.size(); ++i)  // an operator call for each would cost more than the update
    *pass.steps[i].mutable_data_ptr<float>() = static_cast<float>(pass.slots[i]->updates);
}

double FusedOptimizer::step(const UpdateContext& context) {
  const at::NoGradGuard no_grad;
  prepare();
  std::vector<PlannedPass> passes = plan_passes(context);
  const double norm = context.grad_scale * global_norm(defined_gradients());
  if (!std::isfinite(norm)) return norm;
  const double scale = scale_after_clipping(context, norm);
  for (PlannedPass& pass : passes) {
    set_scale(pass, scale);
    count_updates(pass);
    run(pass);
  }
  ++updates_;
  return norm;
}

std::vector<at::Tensor> FusedOptimizer::defined_gradients() const {
  std::vector<at::Tensor> gradients;
  for (const Slot& slot : slots_)
    if (slot.parameter.grad().defined()) gradients.push_back(slot.parameter.grad());
  return gradients;
}

void FusedOptimizer::zero_grad() {
  for (Slot& slot : slots_) slot.parameter.mutable_grad().reset();
}

std::vector<NamedTensor> FusedOptimizer::named_state(const Slot& slot) const {
  std::vector<NamedTensor> named;
  if (!slot.state || !slot.state->step.defined()) return named;
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
