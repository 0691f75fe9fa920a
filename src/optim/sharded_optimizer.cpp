#include "ddpkit/optim/sharded_optimizer.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <map>
#include <set>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/optim/grad_norm.hpp"
#include "ddpkit/tensor/as_buffer.hpp"
#include "ddpkit/tensor/copy_into.hpp"
#include "optim/shard_ground.hpp"
#include "optim/update_rule.hpp"
#include "tensor/in_parallel.hpp"

namespace ddpkit {
namespace {

constexpr const char* kShardedUpdatesName = "updates";

/// First and last byte of memory, and whose.
using Extents = std::map<const std::byte*, std::pair<const std::byte*, std::string_view>>;

std::string overlap_with(const Extents& taken, const at::Tensor& tensor) {
  const auto* begin = static_cast<const std::byte*>(tensor.const_data_ptr());
  const auto after = taken.upper_bound(begin);
  if (after != taken.end() && after->first < begin + tensor.nbytes()) return std::string(after->second.second);
  if (after == taken.begin()) return {};
  const auto& [end, name] = std::prev(after)->second;
  return end > begin ? std::string(name) : std::string();
}

at::Tensor scalar(at::ScalarType type, double value) {
  return at::empty({}, type).fill_(value);
}

std::vector<ParameterShape> shapes_of_slots(std::span<const NamedTensor> parameters) {
  std::vector<ParameterShape> shapes;
  for (const auto& [name, tensor] : parameters) shapes.push_back({name, tensor.sizes().vec()});
  return shapes;
}

}  // namespace

std::string why_not_sharded(std::span<const NamedTensor> parameters) {
  Extents taken;
  for (const auto& [name, tensor] : parameters) {
    if (!tensor.is_cpu())
      return text("parameter ", name, " lies on ", tensor.device().str(), ", and ranks share host memory only");
    if (tensor.layout() != at::kStrided || !tensor.is_non_overlapping_and_dense())
      return text("parameter ", name, " has gaps or overlaps in memory");
    if (!at::isFloatingType(tensor.scalar_type())) return text("parameter ", name, " is ", at::toString(tensor.scalar_type()));
    if (tensor.numel() == 0) continue;
    if (const std::string other = overlap_with(taken, tensor); !other.empty())
      return text("parameters ", other, " and ", name, " are views of the same memory");
    const auto* begin = static_cast<const std::byte*>(tensor.const_data_ptr());
    taken[begin] = {begin + tensor.nbytes(), name};
  }
  return {};
}

struct ShardedOptimizer::Ground : ShardGround {
  Ground(std::vector<std::size_t> slots_, std::vector<NamedTensor> parameters, std::size_t moments, Communicator& comm)
      : ShardGround(std::move(parameters), moments, comm),
        slots(std::move(slots_)),
        reduced(slots.size()),
        gradients(slots.size()),
        rules(slots.size()) {}

  std::vector<std::size_t> slots;  // of the plan's parameters
  std::vector<const std::byte*> reduced;
  std::vector<GradientCopies> gradients;  // of the window at hand
  std::vector<UpdateRule> rules;
};

ShardedOptimizer::ShardedOptimizer(GradReducer& reducer, const OptimizerOptions& options)
    : reducer_(reducer), comm_(reducer.channels().data), options_(options), moment_names_(ddpkit::moment_names(options)) {
  const std::vector<NamedTensor> parameters = reducer.parameters();
  if (const std::string why = why_not_sharded(parameters); !why.empty())
    throw UsageError(text("optimizer.placement: sharded: ", why, "; set it to replicated"));
  if (reducer.delivery() == Delivery::as_is && static_cast<std::size_t>(comm_.world_size()) > kMostCopies)
    throw UsageError(text("optimizer.placement: sharded combines the gradients of ", kMostCopies,
                          " ranks of a node at most; got ", comm_.world_size()));
  for (const NamedTensor& parameter : parameters) slots_.push_back({.parameter = parameter});
  groups_ = plan_groups(shapes_of_slots(parameters), options_);
  for (std::size_t i = 0; i < groups_.size(); ++i)
    for (const std::size_t member : groups_[i].members) slots_[member].group = i;
  lay_out({});
}

ShardedOptimizer::~ShardedOptimizer() = default;

/// Collective. Ground for the parameters that train now and those that have state already.
void ShardedOptimizer::lay_out(std::span<const NamedTensor> moments) {
  const at::NoGradGuard no_graph;
  std::vector<std::size_t> slots;
  std::vector<NamedTensor> parameters;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    slots_[i].has_state |= slots_[i].parameter.tensor.requires_grad();
    if (!slots_[i].has_state) continue;
    slots.push_back(i);
    parameters.push_back(slots_[i].parameter);
  }
  auto ground = std::make_unique<Ground>(std::move(slots), std::move(parameters), moment_names_.size(), comm_);
  if (ground_) ground_->parameters().let_go();
  ground_ = std::move(ground);
  take_state(moments);
  plans_ = reducer_.plans();
}

void ShardedOptimizer::take_state(std::span<const NamedTensor> moments) {
  std::map<std::string_view, const at::Tensor*> found;
  for (const auto& [name, tensor] : moments) found.emplace(name, &tensor);
  for (std::size_t i = 0; i < ground_->slots.size(); ++i)
    for (std::size_t m = 0; m < moment_names_.size(); ++m) {
      const std::string name = text(slots_[ground_->slots[i]].parameter.name, ".", moment_names_[m]);
      if (const auto whole = found.find(name); whole != found.end()) ground_->set_moment(m, i, *whole->second);
    }
  comm_.barrier();
}

void ShardedOptimizer::prepare() {
  ground_->parameters().require_untouched();
}

void ShardedOptimizer::accept_parameters() {
  ground_->parameters().accept();
}

void ShardedOptimizer::find_gradients() {
  const bool kept = reducer_.delivery() == Delivery::as_is;
  for (std::size_t i = 0; i < ground_->slots.size(); ++i) {
    const std::size_t slot = ground_->slots[i];
    const at::Tensor& parameter = slots_[slot].parameter.tensor;
    GradientCopies& gradient = ground_->gradients[i];
    gradient = {.op = kept ? reducer_.kept_op() : ReduceOp::sum, .dtype = dtype_of_tensor(parameter)};
    if (kept) {
      gradient.copies = reducer_.kept(slot);
    } else if (parameter.grad().defined()) {
      ground_->reduced[i] = static_cast<const std::byte*>(parameter.grad().const_data_ptr());
      gradient.copies = {&ground_->reduced[i], 1};
    }
  }
}

double ShardedOptimizer::step(const UpdateContext& context) {
  const at::NoGradGuard no_grad;
  if (reducer_.plans() != plans_) lay_out(moments());
  find_gradients();
  const bool finite = reducer_.delivery() == Delivery::as_is && reducer_.kept_squared_norms() < FLT_MAX;
  double scale = context.grad_scale;
  if (!finite || context.clip_norm > 0) {
    const double norm = look(context);
    if (!std::isfinite(norm)) return norm;
    scale = scale_after_clipping(context, norm);
  }
  update(context, scale);
  ++updates_;
  return context.grad_scale * std::sqrt(ground_->partials().sum());
}

/// The global norm, before anything is written.
double ShardedOptimizer::look(const UpdateContext& context) {
  const auto blocks = ground_->own_blocks();
  const auto partials = ground_->partials().own();
  in_parallel(std::ssize(blocks), /*grain=*/1, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      const GradientCopies& gradient = ground_->gradients[blocks[i].parameter];
      partials[i] = gradient.copies.empty() ? 0 : square_block(gradient, ground_->place(blocks[i]));
    }
  });
  ground_->partials().exchange();
  return context.grad_scale * std::sqrt(ground_->partials().sum());
}

void ShardedOptimizer::update(const UpdateContext& context, double scale) {
  for (std::size_t i = 0; i < ground_->slots.size(); ++i) {
    if (ground_->gradients[i].copies.empty()) continue;
    Slot& slot = slots_[ground_->slots[i]];
    ground_->rules[i] = make_rule(options_, groups_[slot.group], context, scale, ++slot.updates);
  }
  const auto blocks = ground_->own_blocks();
  const auto partials = ground_->partials().own();
  in_parallel(std::ssize(blocks), /*grain=*/1, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      const std::size_t parameter = blocks[i].parameter;
      const GradientCopies& gradient = ground_->gradients[parameter];
      partials[i] = gradient.copies.empty() ? 0 : update_block(ground_->rules[parameter], gradient, ground_->place(blocks[i]));
    }
  });
  ground_->parameters().share_runs(ground_->plan());
  for (std::size_t i = 0; i < ground_->slots.size(); ++i)
    if (!ground_->gradients[i].copies.empty()) ground_->parameters().tell_written(i);
}

void ShardedOptimizer::zero_grad() {
  for (const Slot& slot : slots_) slot.parameter.tensor.mutable_grad().reset();
}

std::vector<NamedTensor> ShardedOptimizer::moments() const {
  std::vector<std::vector<at::Tensor>> gathered;
  for (std::size_t m = 0; m < moment_names_.size(); ++m) gathered.push_back(ground_->gather_moment(m));
  std::vector<NamedTensor> all;
  if (moment_names_.empty()) return all;
  for (std::size_t i = 0; i < ground_->slots.size(); ++i) {
    const Slot& slot = slots_[ground_->slots[i]];
    for (std::size_t m = 0; m < moment_names_.size(); ++m)
      all.push_back({text(slot.parameter.name, ".", moment_names_[m]), gathered[m][i]});
    all.push_back({text(slot.parameter.name, ".step"), scalar(at::kFloat, static_cast<double>(slot.updates))});
  }
  return all;
}

std::vector<NamedTensor> ShardedOptimizer::state() {
  const at::NoGradGuard no_graph;
  std::vector<NamedTensor> all{{kShardedUpdatesName, at::empty({}, at::kLong).fill_(updates_)}};
  for (NamedTensor& item : moments()) all.push_back(std::move(item));
  return all;
}

void ShardedOptimizer::load_state(std::span<const NamedTensor> loaded) {
  const at::NoGradGuard no_graph;
  // A parameter that is frozen here may have been trained before it was saved.
  std::set<std::string_view> names;
  for (const NamedTensor& item : loaded) names.insert(item.name);
  bool more = reducer_.plans() != plans_;
  for (Slot& slot : slots_) {
    if (slot.has_state || !names.contains(text(slot.parameter.name, ".step"))) continue;
    slot.has_state = true;
    more = true;
  }
  if (more) lay_out(moments());
  std::vector<NamedTensor> expected = state();
  require_match(expected, loaded, Match::strict, "optimizer state");
  take_state(loaded);
  std::map<std::string_view, const at::Tensor*> found;
  for (const auto& [name, tensor] : loaded) found.emplace(name, &tensor);
  updates_ = found.at(kShardedUpdatesName)->item<std::int64_t>();
  for (Slot& slot : slots_)
    if (const auto step = found.find(text(slot.parameter.name, ".step")); step != found.end())
      slot.updates = static_cast<std::int64_t>(step->second->item<float>());
  ground_->parameters().accept();
}

std::size_t ShardedOptimizer::state_bytes() const noexcept {
  return ground_->state_bytes();
}

}  // namespace ddpkit
