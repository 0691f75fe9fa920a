#include "reduce/reduce_engine.hpp"

#include <ATen/core/grad_mode.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>
#include <chrono>
#include <limits>

#include "ddpkit/base/text.hpp"
#include "ddpkit/comm/agree.hpp"
#include "reduce/gradient_slot.hpp"

namespace ddpkit {
namespace {

std::string describe(const NamedTensor& item) {
  return text(at::toString(item.tensor.scalar_type()), " ", item.tensor.sizes(), item.tensor.requires_grad() ? "" : " frozen");
}

/// When the device has done what it was asked for so far.
GradReducer::Moment now_on(c10::Device device) {
  if (!device.is_cpu()) c10::impl::VirtualGuardImpl(device.type()).synchronizeDevice(device.index());
  return std::chrono::steady_clock::now();
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

GradReducer::Engine::Engine(std::vector<NamedTensor> parameters, Channels channels, const ReducerOptions& options,
                            const Modes& modes)
    : channels_(channels), options_(options), modes_(modes) {
  for (NamedTensor& parameter : without_repeats(std::move(parameters))) entries_.push_back({.parameter = std::move(parameter)});
  check_equal_on_all_ranks(options);
  make_plan();
  hooks_.reserve(entries_.size());
  for (std::size_t i = 0; i < entries_.size(); ++i) hooks_.emplace_back(entries_[i].parameter.tensor, *this, i);
}

void GradReducer::Engine::check_equal_on_all_ranks(const ReducerOptions& options) {
  std::vector<Fact> facts;
  for (const Entry& entry : entries_) facts.push_back({"parameter " + entry.parameter.name, describe(entry.parameter)});
  facts.push_back({"bucket_mib", text(options.bucket_mib)});
  facts.push_back({"tail_kib", text(options.tail_kib)});
  facts.push_back({"bucket_dtype", std::string(name_of(options.bucket_dtype))});
  facts.push_back({"unused", std::string(name_of(options.unused))});
  facts.push_back({"gradients stay where they are", options.deliver == Delivery::as_is ? "yes" : "no"});
  require_equal(channels_.control, "the model", facts);
  if (options.deliver == Delivery::as_is && options.bucket_dtype != BucketType::gradient)
    throw on_all_ranks(
        ConfigError("comm.bucket_dtype: a sharded update reads gradients where they lie, and nothing travels as bfloat16; set "
                    "optimizer.placement: replicated or comm.bucket_dtype: gradient"));
}

void GradReducer::Engine::record_readiness(Readiness readiness) {
  ready_.assign(readiness == Readiness::recorded ? entries_.size() : 0, Moment());
}

std::vector<GradReducer::Moment> GradReducer::Engine::ready_moments() const {
  std::vector<Moment> moments;
  for (const std::size_t i : entry_of_) moments.push_back(ready_.empty() ? Moment() : ready_[i]);
  return moments;
}

bool GradReducer::Engine::trainable_changed() const {
  for (const Entry& entry : entries_)
    if (entry.parameter.tensor.requires_grad() != entry.planned) return true;
  return false;
}

void GradReducer::Engine::open_window() {
  if (state_ == State::broken) throw UsageError("GradReducer: a collective failed earlier; the job has to end");
  for (Entry& entry : entries_) {
    const at::Tensor& gradient = entry.parameter.tensor.grad();
    entry.in_place = entry.planned && !alone() && is_slot(gradient, entry.slot);
    entry.filled = alone() ? entry.planned && gradient.defined() : entry.in_place;
    entry.counted = false;
    entry.squared_norm.reset();
  }
  for (std::size_t b = 0; b < plan_.buckets.size(); ++b) missing_[b] = std::ssize(plan_.buckets[b].slots);
  full_ = 0;
  sent_ = 0;
  counters_.early_gradients = 0;
  std::fill(ready_.begin(), ready_.end(), Moment());
  state_ = State::open;
}

void GradReducer::Engine::gradient_ready(std::size_t index, const at::Tensor& parameter) {
  Entry& entry = entries_[index];
  at::Tensor& gradient = parameter.mutable_grad();
  if (!gradient.defined() || !entry.planned) return;
  if (gradient.is_sparse())
    throw UsageError(text("parameter ", entry.parameter.name,
                          " has a sparse gradient, which GradReducer does not reduce; make the "
                          "embedding with sparse(false)"));
  if (state_ != State::open) open_window();
  if (entry.bucket < full_) refuse_late(entry);
  take(entry, gradient);
  if (modes_.no_sync > 0) return;
  if (!ready_.empty()) ready_[index] = now_on(parameter.device());
  if (!works_.empty() && !entry.counted) ++counters_.early_gradients;
  count(entry);
}

/// Makes the gradient part of this rank's sum.
void GradReducer::Engine::take(Entry& entry, at::Tensor& gradient) {
  entry.squared_norm.reset();
  if (alone()) {
    if (modes_.measure > 0) entry.squared_norm = norm_of(gradient);
  } else {
    move_to_slot(entry, gradient);
  }
  entry.filled = true;
}

/// Adds to what earlier backwards of the window left in the slot.
void GradReducer::Engine::move_to_slot(Entry& entry, at::Tensor& gradient) {
  const at::Tensor& slot = entry.slot;
  if (gradient.sizes() != slot.sizes())
    throw UsageError(text("parameter ", entry.parameter.name, " changed its shape from ", slot.sizes(), " to ",
                          gradient.sizes(), " after the GradReducer was made; make a new one"));
  const bool measuring = modes_.measure > 0 || (options_.deliver == Delivery::as_is && modes_.no_sync == 0);
  const bool added_in_place = is_slot(gradient, slot);
  if (!added_in_place) {
    // What autograd made out of place from a gradient in the slot holds the slot's sum already.
    if (entry.filled && !entry.in_place)
      add_gradient(slot, gradient);
    else if (measuring && slot.scalar_type() == at::kFloat && lie_alike(slot, gradient))
      entry.squared_norm = SquaredNorm{.host = copy_measured(slot, gradient)};
    else
      copy_gradient(slot, gradient);
    gradient.reset();
  }
  entry.in_place = added_in_place;
  if (measuring && !entry.squared_norm) entry.squared_norm = norm_of(slot);
}

void GradReducer::Engine::count(Entry& entry) {
  if (entry.counted) return;
  entry.counted = true;
  --missing_[entry.bucket];
  while (full_ < plan_.buckets.size() && missing_[full_] == 0) {
    ++full_;
    if (options_.overlap == Overlap::on) send_early(full_ - 1);
  }
}

void GradReducer::Engine::send_early(std::size_t bucket) {
  if (alone() || options_.deliver == Delivery::as_is) return;
  const bool last = bucket + 1 == plan_.buckets.size();
  if (!last) ++counters_.sent_during_backward;
  send(bucket);
}

void GradReducer::Engine::send(std::size_t bucket) {
  ++sent_;
  for (const BucketSlot& slot : plan_.buckets[bucket].slots)
    if (const Entry& entry = entries_[entry_of_[slot.parameter]]; !entry.filled) clear_slot(entry.slot);
  if (options_.deliver == Delivery::as_is) return;
  ++counters_.collectives;
  counters_.bytes += static_cast<std::int64_t>(transport_->bytes_sent(plan_.buckets[bucket]));
  works_.push_back(transport_->start({store_->buffer(bucket), bucket, store_->tag(bucket)}));
}

void GradReducer::Engine::send_rest() {
  if (alone()) return;
  while (sent_ < plan_.buckets.size()) send(sent_);
}

void GradReducer::Engine::refuse_late(const Entry& entry) const {
  throw UsageError(text("parameter ", entry.parameter.name,
                        " got another gradient after its bucket was full; put every backward of a window but the last "
                        "inside `auto pause = reducer.no_sync();`"));
}

/// Sends the rest and the record, waits for all of it, and leaves the sums of the ranks in `rider` and the entries.
void GradReducer::Engine::exchange(std::span<double> rider, Part part) {
  const auto start = std::chrono::steady_clock::now();
  const bool tells_norm = options_.deliver == Delivery::as_is && part == Part::whole;
  const double squared_norm = tells_norm ? local_squared_norm() : 0;
  state_ = State::broken;  // unless all of it arrives
  send_rest();
  if (alone()) {
    for (Entry& entry : entries_) entry.used = entry.filled;
    given_up_ = part == Part::given_up ? 1 : 0;
    newcomers_ = trainable_changed();
  } else {
    exchange_record(rider, part, squared_norm);
    counters_.exposed_seconds += seconds_since(start);
  }
  state_ = State::idle;
  ++counters_.windows;
}

void GradReducer::Engine::exchange_record(std::span<double> rider, Part part, double squared_norm) {
  record_.assign(rider.begin(), rider.end());
  for (const Entry& entry : entries_) record_.push_back(entry.filled ? 1 : 0);
  record_.push_back(squared_norm);
  record_.push_back(part == Part::given_up ? 1 : 0);
  record_.push_back(trainable_changed() ? 1 : 0);
  const Work record = channels_.control.all_reduce(std::span<double>(record_), ReduceOp::sum, "window record");
  for (const Work& work : works_) work.wait();
  record.synchronize();
  works_.clear();

  std::copy_n(record_.begin(), rider.size(), rider.begin());
  for (std::size_t i = 0; i < entries_.size(); ++i) entries_[i].used = record_[rider.size() + i] > 0;
  kept_squared_norms_ = record_[record_.size() - 3];
  given_up_ = static_cast<int>(record_[record_.size() - 2]);
  newcomers_ = record_.back() > 0;
}

double GradReducer::Engine::finish(std::span<double> rider) {
  if (state_ != State::open) open_window();
  exchange(rider, Part::whole);
  if (given_up_ > 0) {
    forget_gradients();  // newcomers wait for a window that is whole
    return 1;
  }
  hand_over();
  const double scale = transport_->pending_scale();
  if (newcomers_) adopt_newcomers();
  if (options_.unused == Unused::error) require_all_used();
  return options_.deliver == Delivery::as_is ? transport_->pending_scale() : scale;
}

void GradReducer::Engine::remember_backward() {
  remembered_.clear();
  for (const Entry& entry : entries_) remembered_.push_back({entry.filled, entry.parameter.tensor.grad()});
}

void GradReducer::Engine::repeat_backward() {
  if (remembered_.empty())
    throw UsageError(
        "GradReducer: the trainable parameters have changed since the backward was recorded; make a new Stepper, "
        "or set step.cuda_graph: off");
  open_window();
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    entries_[i].filled = remembered_[i].filled;
    entries_[i].parameter.tensor.mutable_grad() = remembered_[i].gradient;
  }
}

void GradReducer::Engine::discard() {
  if (state_ != State::open) return;
  if (!works_.empty())
    throw UsageError(
        "GradReducer::discard: buckets of this window are on their way, and other ranks wait for the rest; call finish "
        "or abandon");
  if (alone()) forget_gradients();
  state_ = State::idle;
}

void GradReducer::Engine::abandon(std::span<double> rider) {
  if (state_ != State::open) open_window();
  for (Entry& entry : entries_) entry.filled = false;
  exchange(rider, Part::given_up);
  forget_gradients();
}

void GradReducer::Engine::forget_gradients() {
  for (const Entry& entry : entries_) entry.parameter.tensor.mutable_grad().reset();
}

/// What the measured backward did not touch has not been sent either, and is read where it lies.
double GradReducer::Engine::local_squared_norm() {
  if (trainable_changed()) return std::numeric_limits<double>::quiet_NaN();
  if (state_ != State::open) return 0;
  const at::NoGradGuard no_graph;
  double sum = 0;
  at::Tensor on_device;
  for (Entry& entry : entries_) {
    if (!entry.filled) continue;
    if (!entry.squared_norm) entry.squared_norm = norm_of(alone() ? entry.parameter.tensor.grad() : entry.slot);
    sum += entry.squared_norm->host;
    if (const at::Tensor& norm = entry.squared_norm->device; norm.defined())
      on_device = on_device.defined() ? on_device.add(norm) : norm.to(at::kDouble);
  }
  return on_device.defined() ? sum + on_device.item<double>() : sum;
}

void GradReducer::Engine::hand_over() {
  if (alone()) return;  // gradients are where the caller looks for them
  for (Entry& entry : entries_) {
    if (!entry.planned) continue;
    at::Tensor& gradient = entry.parameter.tensor.mutable_grad();
    if (!entry.used || options_.deliver == Delivery::as_is) {
      gradient.reset();
    } else if (!gradient.defined()) {
      const bool caller_changed_it = !is_slot(entry.handed_over, entry.slot) || entry.handed_over.requires_grad();
      if (caller_changed_it && entry.slot.numel() > 0) entry.handed_over = entry.slot.detach();
      gradient = entry.handed_over;
    }
  }
}

void GradReducer::Engine::require_all_used() const {
  const std::vector<std::string> names = unused();
  if (names.empty()) return;
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  throw on_all_ranks(
      UsageError(text("no rank's loss used ", list,
                      " in this window; freeze what is not trained with "
                      "requires_grad_(false), or set comm.unused: skip. Was a parameter replaced after the reducer "
                      "was made?")));
}

std::vector<std::string> GradReducer::Engine::unused() const {
  std::vector<std::string> names;
  for (const Entry& entry : entries_)
    if (entry.parameter.tensor.requires_grad() && !entry.used) names.push_back(entry.parameter.name);
  return names;
}

std::vector<NamedTensor> GradReducer::Engine::parameters() const {
  std::vector<NamedTensor> parameters;
  for (const Entry& entry : entries_) parameters.push_back(entry.parameter);
  return parameters;
}

std::span<const std::byte* const> GradReducer::Engine::kept(std::size_t index) const noexcept {
  const Entry& entry = entries_[index];
  if (!entry.used || !entry.planned || options_.deliver == Delivery::reduced) return {};
  return store_->copies(entry.gradient);
}

std::vector<at::Tensor> GradReducer::Engine::gradients() const {
  std::vector<at::Tensor> gradients;
  for (const Entry& entry : entries_)
    if (entry.parameter.tensor.grad().defined()) gradients.push_back(entry.parameter.tensor.grad());
  return gradients;
}

void GradReducer::Engine::apply_scale(double scale) {
  if (scale == 1) return;
  const at::NoGradGuard no_graph;
  for (const Entry& entry : entries_)
    if (const at::Tensor& gradient = entry.parameter.tensor.grad(); gradient.defined()) gradient.mul_(scale);
}

}  // namespace ddpkit
