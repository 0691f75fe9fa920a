#include "ddpkit/step/stepper.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros.h>
#include <c10/util/Exception.h>

#include <chrono>
#include <cmath>
#include <optional>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/fields.hpp"
#include "ddpkit/base/random.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/comm/agree.hpp"
#include "ddpkit/tensor/device_graph.hpp"
#include "ddpkit/tensor/out_of_memory.hpp"
#include "ddpkit/tensor/seed.hpp"
#include "step/recorded_pass.hpp"

namespace ddpkit {
namespace {

using Slot = Ballot::Slot;

/// Adds the time of its scope to a number of seconds.
class Stopwatch {
 public:
  explicit Stopwatch(double& seconds) : seconds_(seconds), start_(std::chrono::steady_clock::now()) {}
  ~Stopwatch() { seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  double& seconds_;
  std::chrono::steady_clock::time_point start_;
};

/// Each micro-batch weighs 1 / number of its rank's, so other numbers on other ranks would be silently wrong.
void require_equal_numbers(const Ballot& ballot, int ranks) {
  const double sum = ballot[Slot::micro_batches];
  if (ballot[Slot::micro_batches_squared] * ranks == sum * sum) return;
  throw on_all_ranks(UsageError(text("Stepper: the ranks passed ", sum,
                                     " micro-batches for one window, which is not the same "
                                     "number on each of ",
                                     ranks, " ranks; pass batches without rows where there is no more data")));
}

/// What all ranks said, into what the caller sees.
void read(const Ballot& ballot, int ranks, StepResult& result) {
  result.count = ballot[Slot::count];
  result.rows = static_cast<std::int64_t>(ballot[Slot::rows]);
  result.loss = ballot[Slot::loss] / result.count;
  result.data_seconds = ballot[Slot::data_seconds] / ranks;
  result.compute_seconds = ballot[Slot::compute_seconds] / ranks;
}

/// A backward that was cut short leaves gradients in its thread's queue, until the next one passes through it: here it is.
void empty_backward_queue() {
  try {
    const at::Tensor leaf = at::zeros({}).requires_grad_(true);
    (leaf * 1).backward();
  } catch (const c10::OutOfMemoryError&) {  // then the next window will do it
  }
}

/// What the loss was taken over.
double count_of(const Loss& loss, const Batch& batch) {
  const double count = loss.count.value_or(static_cast<double>(batch.rows()));
  if (!(std::isfinite(count) && count >= 0))
    throw UsageError(text("Stepper: the loss function returned a mean over ", count, " items; expected a number, 0 or more"));
  return count;
}

std::unique_ptr<RecordedPass> make_recorded_pass(Reducer& reducer, const StepperOptions& options) {
  if (options.cuda_graph == CudaGraph::off) return nullptr;
  if (device_graph_factory() == nullptr)
    throw ConfigError("step.cuda_graph: on needs a GPU and a program that is linked with ddpkit::cuda; set it to off");
  return std::make_unique<RecordedPass>(reducer, device_graph_factory()());
}

Wish wish_of(const Ballot& ballot) {
  if (ballot[Slot::stop_wanted] > 0) return Wish::save_and_stop;
  return ballot[Slot::finish_wanted] > 0 ? Wish::finish : Wish::go_on;
}

}  // namespace

struct Stepper::MicroBatches {
  std::int64_t size;
  double expected_count;  ///< of this rank in a full window; equal on all ranks
  /// The batch of this number on the device: in `room`, unless it lies there already.
  std::function<const Batch&(std::int64_t, Batch& room)> fetch;
};

Stepper::Stepper(Reducer& reducer, Optimizer& optimizer, const LrSchedule& schedule, const StepperOptions& options)
    : reducer_(reducer),
      optimizer_(optimizer),
      schedule_(schedule),
      options_(options),
      noise_(reducer),
      recorded_(make_recorded_pass(reducer, options)) {}

Stepper::~Stepper() = default;

StepResult Stepper::run(const Window& window, const LossFunction& loss) {
  progress_.epoch = window.range().epoch;
  progress_.global_batch = window.range().global;
  const auto fetch = [&](std::int64_t index, Batch& room) -> const Batch& {
    return room = Batch(window.fetch(index)).to(device_);
  };
  return step({window.micro_batches(), static_cast<double>(window.local_batch()), fetch}, loss);
}

StepResult Stepper::run(std::span<const Batch> micro_batches, const LossFunction& loss) {
  const auto fetch = [&](std::int64_t index, Batch& room) -> const Batch& {
    const Batch& batch = micro_batches[static_cast<std::size_t>(index)];
    return batch.is_on(device_) ? batch : room = batch.to(device_);
  };
  return step({std::ssize(micro_batches), static_cast<double>(micro_batches.size()), fetch}, loss);
}

StepResult Stepper::step(const MicroBatches& window, const LossFunction& loss) {
  if (recorded_) require_recordable(window);
  const int ranks = reducer_.channels().control.world_size();
  StepResult result{.step = progress_.step, .lr = schedule_.at(progress_)};
  Ballot ballot = open_ballot(window);
  try_window(window, loss, ballot);
  const double pending_scale = exchange(ballot, result);
  require_equal_numbers(ballot, ranks);
  result.wish = wish_of(ballot);
  if (reducer_.given_up() > 0) {
    give_up(result);
    return result;
  }
  read(ballot, ranks, result);
  if (may_update(ballot, result)) update_or_end(pending_scale * window.expected_count * ranks / result.count, result);
  if (result.update == StepResult::Update::applied)
    result.noise = noise_.observe(ballot, result);
  else
    put_back_buffers();
  optimizer_.zero_grad();
  ++progress_.step;
  progress_.samples += result.rows;
  return result;
}

void Stepper::require_recordable(const MicroBatches& window) const {
  if (device_.is_cpu())
    throw on_all_ranks(ConfigError("step.cuda_graph: on needs a GPU, and this run is on CPUs; set it to off"));
  if (window.size != 1)
    throw on_all_ranks(ConfigError(text("step.cuda_graph: a graph is of one micro-batch, and this window has ", window.size,
                                        "; set batch.accumulate to 1 or step.cuda_graph to off")));
}

Ballot Stepper::open_ballot(const MicroBatches& window) const {
  Ballot ballot;
  const Wish mine = wish ? wish() : Wish::go_on;
  ballot[Slot::finish_wanted] = mine == Wish::finish ? 1 : 0;
  ballot[Slot::stop_wanted] = mine == Wish::save_and_stop ? 1 : 0;
  ballot[Slot::micro_batches] = static_cast<double>(window.size);
  ballot[Slot::micro_batches_squared] = static_cast<double>(window.size * window.size);
  return ballot;
}

/// This rank's share of a window. A shortage of memory is only noted, since the peers have to hear of it.
void Stepper::try_window(const MicroBatches& window, const LossFunction& loss, Ballot& ballot) {
  culprit_.clear();
  pending_losses_.clear();
  shortage_ = {};
  reducer_.discard();  // a window that ended in an exception must not leak into this one
  optimizer_.zero_grad();
  noise_.open(window.size, window.expected_count);
  try {
    make_room();
    back_propagate(window, loss, ballot);
  } catch (const std::exception& error) {
    const std::optional<std::string> what = out_of_memory(error);
    if (!what) throw;
    shortage_ = {.phase = phase_, .what = *what};
    pending_losses_.clear();
  }
  if (shortage_.phase == MemoryPhase::backward) empty_backward_queue();
}

/// What stays allocated, before anything is computed: a rank that has no room for it can still give the window up.
void Stepper::make_room() {
  phase_ = MemoryPhase::optimizer;
  if (buffers) kept_.keep(buffers());
  optimizer_.prepare();
}

void Stepper::put_back_buffers() {
  if (buffers) kept_.put_back(buffers());
}

double Stepper::exchange(Ballot& ballot, StepResult& result) {
  const Stopwatch stopwatch(result.reduce_seconds);
  if (shortage_.phase == MemoryPhase::none) return reducer_.finish_unscaled(ballot.record());
  reducer_.abandon(ballot.record());
  return 1;
}

void Stepper::give_up(StepResult& result) {
  result.update = StepResult::Update::given_up;
  put_back_buffers();
  optimizer_.zero_grad();
  if (on_shortage_ == OnShortage::report) return;
  std::string details;
  const bool mine = shortage_.phase != MemoryPhase::none;
  const auto accounts =
      gather_texts(reducer_.channels().control, mine ? text(name_of(shortage_.phase), ": ", shortage_.what) : "");
  for (std::size_t rank = 0; rank < accounts.size(); ++rank)
    if (!accounts[rank].empty()) details += text("; rank ", rank, " in ", accounts[rank]);
  throw on_all_ranks(Error(text("step ", result.step, ": out of memory", details,
                                "; nothing was updated (pass smaller micro-batches, or run the same window again with them "
                                "after set_on_shortage(OnShortage::report))"),
                           ExitStatus::memory));
}

void Stepper::back_propagate(const MicroBatches& window, const LossFunction& loss, Ballot& ballot) {
  const int rank = reducer_.channels().control.rank();
  for (std::int64_t i = 0; i < window.size; ++i) {
    std::optional<Reducer::NoSync> pause;
    if (i + 1 < window.size) pause.emplace(reducer_.no_sync());
    Batch room;
    const Batch& batch = fetch(window, i, room, ballot);
    const auto measure = noise_.reach(i, ballot);
    if (batch.rows() == 0) continue;
    const Stopwatch stopwatch(ballot[Slot::compute_seconds]);
    const auto index = static_cast<std::uint64_t>(rank * window.size + i);
    seed_generators(random_key({seed_, static_cast<std::uint64_t>(progress_.step), index}), device_);
    back_propagate_one(batch, window.expected_count, loss, ballot);
  }
  noise_.reach(window.size, ballot);
  read_losses(ballot);
}

const Batch& Stepper::fetch(const MicroBatches& window, std::int64_t index, Batch& room, Ballot& ballot) {
  const Stopwatch stopwatch(ballot[Slot::data_seconds]);
  phase_ = MemoryPhase::batch;
  return window.fetch(index, room);
}

void Stepper::back_propagate_one(const Batch& batch, double expected_count, const LossFunction& loss_of, Ballot& ballot) {
  const auto pass = [&](const Batch& rows) { return forward_and_backward(rows, expected_count, loss_of); };
  const Loss loss = recorded_ ? recorded_->run(batch, expected_count, pass) : pass(batch);
  const double count = count_of(loss, batch);
  if (count == 0) return;
  ballot[Slot::count] += count;
  ballot[Slot::rows] += static_cast<double>(batch.rows());
  const auto ids = batch.ids();
  pending_losses_.push_back({.mean = loss.mean,
                             .count = count,
                             .micro_index = batch.micro_index(),
                             .rows = batch.rows(),
                             .first_id = ids.empty() ? std::nullopt : std::optional(ids.front())});
  phase_ = MemoryPhase::metrics;
  if (on_micro_batch) on_micro_batch(batch, loss);
}

/// As (loss * factor).backward(), which would add a node to the graph and take memory.
void Stepper::backward(const at::Tensor& loss, double factor) {
  const bool fits = factor_.defined() && factor_.dtype() == loss.dtype() && factor_.device() == loss.device() &&
                    factor_.sizes() == loss.sizes();
  if (!fits) factor_ = at::empty_like(loss, loss.options().requires_grad(false));
  loss.backward(factor_.fill_(factor));
}

/// Does not wait for the device.
Loss Stepper::forward_and_backward(const Batch& batch, double expected_count, const LossFunction& loss_of) {
  phase_ = MemoryPhase::forward;
  Loss loss = loss_of(batch);
  if (!loss.mean.defined() || loss.mean.numel() != 1)
    throw UsageError("Stepper: the loss function must return a scalar, the mean over `count` items");
  const double count = count_of(loss, batch);
  if (count == 0) return loss;  // a mean over nothing is no number, and adds nothing
  if (recorded_ && loss.count)
    throw UsageError(
        "step.cuda_graph: the loss function counts its items, and would not be asked again once it is recorded; "
        "let it return the mean over rows, or set step.cuda_graph: off");
  phase_ = MemoryPhase::backward;
  if (recorded_)
    (loss.mean * (count / expected_count)).backward();  // takes its memory from the graph
  else
    backward(loss.mean, count / expected_count);
  return loss;
}

/// Waits for the device, once per window and after everything has been launched.
void Stepper::read_losses(Ballot& ballot) {
  const Stopwatch stopwatch(ballot[Slot::compute_seconds]);
  for (const PendingLoss& loss : pending_losses_) {
    const double mean = loss.mean.item<double>();
    ballot[Slot::loss] += mean * loss.count;
    if (std::isfinite(mean)) continue;
    ballot[Slot::loss_not_finite] = 1;
    culprit_ = text("loss ", mean, " in micro-batch ", loss.micro_index);
    if (loss.first_id) culprit_ += text(" of ", loss.rows, " rows, the first of them sample ", *loss.first_id);
  }
  pending_losses_.clear();
}

bool Stepper::may_update(const Ballot& ballot, StepResult& result) {
  if (ballot[Slot::loss_not_finite] > 0) {
    refuse_update("the loss", result);
    return false;
  }
  if (result.count == 0) result.update = StepResult::Update::skipped;
  return result.count > 0;
}

/// The peers update too by now: a rank that cannot must end the job.
void Stepper::update_or_end(double scale, StepResult& result) {
  const Stopwatch stopwatch(result.update_seconds);
  try {
    update(scale, result);
  } catch (const std::exception& error) {
    const std::optional<std::string> what = out_of_memory(error);
    if (!what) throw;
    throw Error(text("step ", result.step, ": out of memory while the optimizer updated, when the ranks had agreed on it: ",
                     *what, "; leave it more room with a smaller batch.micro, or use an optimizer of ddpkit, which takes all ",
                     "its memory before a window begins"),
                ExitStatus::memory);
  }
}

void Stepper::update(double scale, StepResult& result) {
  result.grad_norm = optimizer_.step({.lr = result.lr, .grad_scale = scale, .clip_norm = options_.clip_norm});
  if (!std::isfinite(result.grad_norm)) refuse_update("a gradient", result);
}

/// All ranks come here together, so that they may tell each other what each has seen.
void Stepper::refuse_update(const std::string& what, StepResult& result) {
  result.update = StepResult::Update::skipped;
  if (options_.non_finite == NonFinite::skip) return;
  std::string details;
  const std::vector<std::string> accounts = gather_texts(reducer_.channels().control, culprit_);
  for (std::size_t rank = 0; rank < accounts.size(); ++rank)
    if (!accounts[rank].empty()) details += text("; rank ", rank, ": ", accounts[rank]);
  Error error(text("step ", result.step, ": ", what, " is not finite", details,
                   "; nothing was updated (lower optimizer.lr, set step.clip_norm, or step.non_finite: skip)"),
              ExitStatus::diverged);
  throw on_all_ranks(std::move(error));
}

}  // namespace ddpkit
