// Which plan is in force, and what becomes of a window in which it changes.
#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros_like.h>

#include "ddpkit/base/error.hpp"
#include "ddpkit/comm/agree.hpp"
#include "ddpkit/reduce/bfloat16_transport.hpp"
#include "ddpkit/tensor/as_buffer.hpp"
#include "reduce/gradient_slot.hpp"
#include "reduce/reduce_engine.hpp"

namespace ddpkit {
namespace {

bool is_16_bit(DType type) {
  return size_of(type) == 2;
}

/// The gradient, or zeros for one that is undefined, in the order of memory that the parameter has on every rank.
at::Tensor laid_out_like(const at::Tensor& parameter, const at::Tensor& gradient) {
  const at::NoGradGuard no_graph;
  at::Tensor room = at::zeros_like(parameter);
  if (!gradient.defined()) return room;
  return gradient.strides() == room.strides() ? gradient.detach() : room.copy_(gradient);
}

}  // namespace

/// Collective. A plan of the parameters that are trainable now; gradients handed over from an earlier plan stay valid.
void GradReducer::Engine::make_plan() {
  entry_of_.clear();
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    Entry& entry = entries_[i];
    entry.planned = entry.parameter.tensor.requires_grad();
    if (!entry.planned) continue;
    entry_of_.push_back(i);
  }
  const BucketLimits limits{.bucket_bytes = static_cast<std::size_t>(options_.bucket_mib) << 20,
                            .tail_bytes = static_cast<std::size_t>(options_.tail_kib) << 10};
  adopt(plan_buckets(gradient_specs(), limits));
}

/// Collective.
void GradReducer::Engine::adopt(BucketPlan plan) {
  plan_ = std::move(plan);
  remembered_.clear();
  bool any_16_bit = false;
  for (std::size_t b = 0; b < plan_.buckets.size(); ++b) {
    any_16_bit |= is_16_bit(plan_.buckets[b].dtype);
    for (const BucketSlot& slot : plan_.buckets[b].slots) entries_[entry_of_[slot.parameter]].bucket = b;
  }
  op_ = any_16_bit ? ReduceOp::mean : ReduceOp::sum;
  make_transport();
  missing_.assign(plan_.buckets.size(), 0);
  works_.reserve(plan_.buckets.size());
  if (channels_.data.world_size() > 1) place_in_buckets();
  if (alone() || !store_->shared()) options_.deliver = Delivery::reduced;  // and stays so
  ++plans_;
}

void GradReducer::Engine::place_in_buckets() {
  std::vector<NamedTensor> gradients;
  for (const std::size_t i : entry_of_) gradients.push_back(entries_[i].parameter);
  store_ = std::make_unique<BucketStore>(plan_, gradients, channels_.data);
  for (std::size_t gradient = 0; gradient < entry_of_.size(); ++gradient) {
    Entry& entry = entries_[entry_of_[gradient]];
    entry.gradient = gradient;
    entry.slot = store_->slot(gradient);
    entry.handed_over = entry.slot.detach();
  }
}

void GradReducer::Engine::make_transport() {
  if (options_.bucket_dtype == BucketType::bfloat16 && channels_.data.world_size() > 1)
    transport_ = std::make_unique<Bfloat16Transport>(channels_.data, op_, plan_);
  else
    transport_ = std::make_unique<AllReduceTransport>(channels_.data, op_);
}

std::vector<GradientSpec> GradReducer::Engine::gradient_specs() const {
  std::vector<GradientSpec> specs;
  for (const std::size_t i : entry_of_) {
    const NamedTensor& parameter = entries_[i].parameter;
    specs.push_back({parameter.name, parameter.tensor.numel(), dtype_of_tensor(parameter.tensor)});
  }
  return specs;
}

void GradReducer::Engine::set_plan(const BucketPlan& plan) {
  if (state_ != State::idle) throw UsageError("GradReducer::set_plan: a window is open; call it after finish");
  adopt(plan);
}

/// Collective. Parameters that became trainable since the plan was made get a place in a new one, and the gradients that they
/// have in this window are reduced there.
void GradReducer::Engine::adopt_newcomers() {
  std::vector<Fact> facts;
  for (const Entry& entry : entries_)
    facts.push_back({"parameter " + entry.parameter.name, entry.parameter.tensor.requires_grad() ? "trainable" : "frozen"});
  require_equal(channels_.control, "which parameters are trainable", facts);
  make_room_for_newcomers();
  if (options_.deliver == Delivery::as_is) return move_to_new_plan();
  std::vector<Entry*> newcomers;
  for (Entry& entry : entries_)
    if (!entry.planned && entry.parameter.tensor.requires_grad() && entry.used) newcomers.push_back(&entry);
  const ReduceOp op = op_;  // the new plan may have another
  make_plan();
  if (!alone()) reduce_newcomers(newcomers, op);
}

/// Where all others are, so that the ranks are added in the same order.
void GradReducer::Engine::reduce_newcomers(std::span<Entry* const> newcomers, ReduceOp op) {
  for (Entry* entry : newcomers) {
    at::Tensor& gradient = entry->parameter.tensor.mutable_grad();
    copy_gradient(entry->slot, gradient);
    channels_.data.all_reduce(store_->slot_buffer(entry->bucket, entry->gradient), op, entry->parameter.name).wait();
    gradient = entry->handed_over;
  }
}

/// Gradients that nobody has reduced move to where the new plan has them.
void GradReducer::Engine::move_to_new_plan() {
  std::vector<at::Tensor> gradients;
  for (const Entry& entry : entries_) gradients.push_back(entry.planned ? entry.slot : entry.parameter.tensor.grad());
  make_plan();
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = entries_[i];
    entry.parameter.tensor.mutable_grad().reset();
    if (entry.planned && entry.used) copy_gradient(entry.slot, gradients[i]);
  }
  if (options_.deliver == Delivery::as_is) return channels_.control.barrier();
  for (std::size_t b = 0; b < plan_.buckets.size(); ++b) transport_->start({store_->buffer(b), b, store_->tag(b)}).wait();
  hand_over();
}

/// Collective: a rank without room is an error on all.
void GradReducer::Engine::make_room_for_newcomers() {
  for (Entry& entry : entries_)
    if (!entry.planned && entry.parameter.tensor.requires_grad())
      entry.used = agree_any(channels_.control, entry.parameter.tensor.grad().defined(), entry.parameter.name);
  all_or_none(channels_.control, "making room for the gradients of parameters that became trainable", [&] {
    for (const Entry& entry : entries_)
      if (const at::Tensor& parameter = entry.parameter.tensor; !entry.planned && parameter.requires_grad() && entry.used)
        parameter.mutable_grad() = laid_out_like(parameter, parameter.grad());
  });
}

}  // namespace ddpkit
