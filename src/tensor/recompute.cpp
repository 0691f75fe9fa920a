#include "ddpkit/tensor/recompute.hpp"

#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/saved_variable.h>

#include <memory>
#include <mutex>
#include <optional>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/tensor/autocast.hpp"
#include "tensor/generator_states.hpp"
#include "tensor/saved_tensor_hooks.hpp"

namespace ddpkit {
namespace {

using torch::autograd::SavedVariable;
using torch::autograd::SavedVariableHooks;

thread_local Recompute recompute_here = Recompute::off;
thread_local int second_times = 0;  // segments within segments

/// A place where tensors saved by autograd come in order.
using Record = std::vector<at::Tensor>;

/// Keeps what autograd saves: the second time.
class RecordingHooks final : public SavedVariableHooks {
 public:
  explicit RecordingHooks(std::shared_ptr<Record> record) : record_(std::move(record)) {}

  void call_pack_hook(const at::Tensor& tensor) override {
    index_ = record_->size();
    record_->push_back(tensor.detach());
  }
  at::Tensor call_unpack_hook() override { return record_->at(index_); }

 private:
  std::shared_ptr<Record> record_;
  std::size_t index_ = 0;
};

c10::Device device_of(const std::vector<at::Tensor>& inputs) {
  for (const at::Tensor& input : inputs)
    if (input.defined() && !input.is_cpu()) return input.device();
  return c10::kCPU;
}

/// One call of recomputed(): lives as long as autograd holds one of the tensors that were saved inside.
class RecomputedSegment : public std::enable_shared_from_this<RecomputedSegment> {
 public:
  RecomputedSegment(Segment segment, const std::vector<at::Tensor>& inputs)
      : segment_(std::move(segment)),
        device_(device_of(inputs)),
        generators_(device_),
        cpu_type_(autocast_type(c10::kCPU)),
        device_type_(autocast_type(device_.type())) {
    // Saved as autograd saves, so that a segment around this one drops them in turn, and changes in place are noticed.
    for (const at::Tensor& input : inputs) inputs_.emplace_back(input, /*is_output=*/false);
  }

  at::Tensor run(const std::vector<at::Tensor>& inputs);

 private:
  class DroppingHooks;

  /// The tensor that was saved as number `index`. Handed out once: what is computed again is freed as backward goes on.
  at::Tensor take(std::size_t index);
  void compute_again();
  std::vector<at::Tensor> detached_inputs() const;
  void require_same_number(std::size_t recorded) const;

  Segment segment_;
  c10::Device device_;
  GeneratorStates generators_;
  std::optional<c10::ScalarType> cpu_type_;
  std::optional<c10::ScalarType> device_type_;
  std::vector<SavedVariable> inputs_;
  std::size_t saved_ = 0;
  std::mutex mutex_;  // backward may use one thread per device
  Record again_;
};

/// Keeps only the number of what autograd saves: the first time.
class RecomputedSegment::DroppingHooks final : public SavedVariableHooks {
 public:
  explicit DroppingHooks(std::shared_ptr<RecomputedSegment> segment) : segment_(std::move(segment)) {}

  void call_pack_hook(const at::Tensor&) override { index_ = segment_->saved_++; }
  at::Tensor call_unpack_hook() override { return segment_->take(index_); }

 private:
  std::shared_ptr<RecomputedSegment> segment_;
  std::size_t index_ = 0;
};

at::Tensor RecomputedSegment::run(const std::vector<at::Tensor>& inputs) {
  const MakeHooks make = [this] { return std::make_unique<DroppingHooks>(shared_from_this()); };
  const SavedTensorScope hooks(make);
  return segment_(inputs);
}

at::Tensor RecomputedSegment::take(std::size_t index) {
  const std::lock_guard lock(mutex_);
  if (again_.empty() || !again_[index].defined()) compute_again();
  return std::exchange(again_[index], at::Tensor());
}

/// Random numbers as they were at the start of the segment, and afterwards as if there had been no second time.
class RepeatedRandomness {
 public:
  explicit RepeatedRandomness(const GeneratorStates& then) : now_(then.now()) {
    then.restore();
    ++second_times;
  }
  ~RepeatedRandomness() {
    --second_times;
    now_.restore();
  }
  RepeatedRandomness(const RepeatedRandomness&) = delete;
  RepeatedRandomness& operator=(const RepeatedRandomness&) = delete;

 private:
  GeneratorStates now_;
};

void RecomputedSegment::compute_again() {
  const std::vector<at::Tensor> inputs = detached_inputs();
  const auto record = std::make_shared<Record>();
  {
    const at::AutoGradMode with_graph(true);
    const RepeatedRandomness randomness(generators_);
    const AutocastScope on_cpu(c10::kCPU, cpu_type_), on_device(device_.type(), device_type_);
    const RecomputeScope nested(Recompute::on);
    const MakeHooks make = [&] { return std::make_unique<RecordingHooks>(record); };
    const SavedTensorScope hooks(make);
    segment_(inputs);
  }
  require_same_number(record->size());
  again_ = std::move(*record);
}

/// Cut off from the graph that they came from: the second graph is thrown away.
std::vector<at::Tensor> RecomputedSegment::detached_inputs() const {
  std::vector<at::Tensor> inputs;
  for (const SavedVariable& saved : inputs_) {
    const at::Tensor input = saved.unpack();
    inputs.push_back(input.defined() ? input.detach().set_requires_grad(input.requires_grad()) : input);
  }
  return inputs;
}

void RecomputedSegment::require_same_number(std::size_t recorded) const {
  if (recorded == saved_) return;
  throw Error(text("recomputed: autograd saved ", saved_, " tensors in the segment the first time and ", recorded,
                   " the second time; a segment must not depend on anything but its inputs and LibTorch's random numbers"));
}

}  // namespace

at::Tensor recomputed(Segment segment, std::vector<at::Tensor> inputs) {
  if (recompute_here == Recompute::off || !at::GradMode::is_enabled()) return segment(inputs);
  return std::make_shared<RecomputedSegment>(std::move(segment), inputs)->run(inputs);
}

at::Tensor recomputed(std::function<at::Tensor(const at::Tensor&)> segment, const at::Tensor& input) {
  return recomputed([segment = std::move(segment)](const std::vector<at::Tensor>& inputs) { return segment(inputs.front()); },
                    std::vector{input});
}

bool recomputing() noexcept {
  return second_times > 0;
}

RecomputeScope::RecomputeScope(Recompute recompute) : before_(recompute_here) {
  if (recompute == Recompute::on) install_saved_tensor_hooks();
  recompute_here = recompute;
}

RecomputeScope::~RecomputeScope() {
  recompute_here = before_;
}

}  // namespace ddpkit
