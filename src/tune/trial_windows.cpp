#include "tune/trial_windows.hpp"

#include <ATen/core/grad_mode.h>

#include <array>
#include <bit>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/fields.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/comm/agree.hpp"
#include "ddpkit/optim/make_optimizer.hpp"
#include "ddpkit/tensor/out_of_memory.hpp"
#include "train/located_loss.hpp"

namespace ddpkit {
namespace {

constexpr double kTrialRate = 1e-9;

/// Of the run, but for what a measurement must not depend on.
RunConfig trial_config(const RunConfig& config, const BatchPlan& plan, Recording recording) {
  RunConfig trial = config;
  trial.batch = {.global = plan.global, .micro = plan.micro, .accumulate = plan.accumulate};
  trial.data.tail = Tail::drop;  // full windows only
  trial.schedule = {};
  trial.optimizer.lr = kTrialRate;
  trial.step.non_finite = NonFinite::skip;
  if (recording == Recording::profile) trial.reducer.overlap = Overlap::off;
  return trial;
}

/// Every rank's reading, in rank order.
std::vector<WindowReading> share(const WindowReading& mine, Communicator& ranks) {
  using Numbers = std::array<double, sizeof(WindowReading) / sizeof(double)>;
  const Numbers sent = std::bit_cast<Numbers>(mine);
  std::vector<double> received(sent.size() * static_cast<std::size_t>(ranks.world_size()));
  ranks.all_gather(std::span<const double>(sent), std::span<double>(received), "window reading").wait();
  std::vector<WindowReading> readings;
  for (auto from = received.begin(); from != received.end(); from += sent.size()) {
    Numbers numbers;
    std::copy_n(from, numbers.size(), numbers.begin());
    readings.push_back(std::bit_cast<WindowReading>(numbers));
  }
  return readings;
}

/// Before the first window, so that each has the same to hold.
void prepare(Optimizer& optimizer) {
  try {
    optimizer.prepare();
  } catch (const std::exception& error) {
    const std::optional<std::string> what = out_of_memory(error);
    if (!what) throw;
    throw Error(
        text("the model and its optimizer state alone do not fit: ", *what, "; raise memory.limit or make the model smaller"),
        ExitStatus::memory);
  }
}

WindowOutcome::End end_of(const StepResult& result) {
  switch (result.update) {
    case StepResult::Update::applied: return WindowOutcome::End::measured;
    case StepResult::Update::skipped: return WindowOutcome::End::not_finite;
    case StepResult::Update::given_up: break;
  }
  return WindowOutcome::End::out_of_memory;
}

}  // namespace

TrialWindows::TrialWindows(const Trainer& trainer, const Dataset& train_set, const BatchPlan& plan, Recording recording)
    : config_(trial_config(trainer.context().config, plan, recording)),
      context_{.config = config_,
               .channels = trainer.context().channels,
               .log = trainer.context().log,
               .run_folder = {},
               .resume_from = {},
               .device = trainer.context().device},
      model_(trainer.model()),
      before_(model_, context_.device),
      plan_(plan),
      training_(plan_training({context_, model_, train_set, trainer.sample_weights()})),
      reducer_(model_.parameters(), context_.channels, training_->reducer),
      optimizer_(make_optimizer(reducer_, training_->optimizer)),
      stepper_(reducer_, *optimizer_, training_->schedule, config_.step),
      clock_(context_.device, config_.memory.limit) {
  model_.ensure_training();
  if (recording == Recording::profile) recorder_.emplace(reducer_);
  stepper_.set_seed(static_cast<std::uint64_t>(config_.run.seed));
  stepper_.set_device(context_.device);
  stepper_.set_on_shortage(OnShortage::report);
  if (config_.memory.when_full == WhenFull::ladder) stepper_.buffers = [this] { return model_.buffers(); };  // as in training
  stepper_.on_micro_batch = [this](const Batch&, const Loss&) { clock_.backward_is_done(); };
  const LossFunction user_loss = located(trainer.loss(), [this] { return text("micro-batches of ", plan_.micro); });
  loss_ = [this, user_loss](const Batch& batch) {
    clock_.batch_is_there();
    Loss loss = user_loss(batch);
    clock_.forward_is_done();
    return loss;
  };
  all_or_none(context_.channels.control, "optimizer state", [&] { prepare(*optimizer_); });
}

void TrialWindows::set_plan(const BatchPlan& plan) {
  plan_ = plan;
  training_->loader->set_global(plan.global);
  training_->loader->set_micro(plan.micro);
  training_->loader->jump({});
  restore_weights();
}

void TrialWindows::restore_weights() {
  before_.restore_weights();
  optimizer_->accept_parameters();
}

WindowOutcome TrialWindows::run() {
  clock_.start_window();
  const StepResult result = stepper_.run(training_->loader->next_window(), loss_);
  WindowOutcome outcome{.end = end_of(result)};
  const WindowReading mine = clock_.stop(result);
  if (recorder_ && outcome.end == WindowOutcome::End::measured) record(mine);
  outcome.ranks = share(mine, context_.channels.control);
  if (outcome.end != WindowOutcome::End::measured) restore_weights();
  if (outcome.end == WindowOutcome::End::out_of_memory) {
    outcome.account = account_of_shortage();
    clock_.release();
  }
  return outcome;
}

void TrialWindows::record(const WindowReading& mine) {
  ++recorded_;
  const double last = clock_.last_backward_seconds();
  recorder_->add({.backward_began = clock_.backward_began(),
                  .backward_seconds = last,
                  .forward_seconds = mine.forward_seconds + mine.backward_seconds - last,
                  .update_seconds = mine.update_seconds});
}

std::optional<StepProfile> TrialWindows::profile() const {
  if (recorded_ == 0) return std::nullopt;
  StepProfile profile = recorder_->profile();
  const Topology& topology = context_.channels.control.topology();
  profile.model = config_.run.name;
  profile.device = context_.device.is_cpu() ? "cpu" : "cuda";
  profile.source = text("recorded over ", recorded_, recorded_ == 1 ? " window" : " windows", " on rank ", topology.rank,
                        " of ", topology.world_size);
  profile.samples = plan_.micro * plan_.accumulate;
  return profile;
}

/// What the first rank that failed says, and how many others did.
std::string TrialWindows::account_of_shortage() const {
  const Shortage& mine = stepper_.shortage();
  const bool failed = mine.phase != MemoryPhase::none;
  std::string account;
  std::int64_t others = -1;
  const auto all = gather_texts(context_.channels.control, failed ? text(name_of(mine.phase), ": ", mine.what) : "");
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank].empty()) continue;
    if (++others == 0) account = text("rank ", rank, " ran out of memory in ", all[rank]);
  }
  return others > 0 ? text(account, " (and ", others, others == 1 ? " other rank)" : " other ranks)") : account;
}

std::vector<std::int64_t> TrialWindows::memory_limits() const {
  std::vector<std::int64_t> limits(static_cast<std::size_t>(context_.channels.control.world_size()));
  const std::int64_t mine = clock_.memory_limit();
  context_.channels.control.all_gather(std::span(&mine, 1), std::span(limits), "memory limits").wait();
  return limits;
}

std::string TrialWindows::complaint_about(std::int64_t micro) {
  const int ranks = context_.channels.control.world_size();
  set_plan({.global = micro * ranks, .micro = micro, .accumulate = 1});
  std::string mine;
  try {
    const at::NoGradGuard no_graph;
    loss_(Batch(training_->loader->next_window().fetch(0)).to(context_.device));
  } catch (const std::exception& error) {
    if (!out_of_memory(error)) mine = error.what();  // that, the window that follows will tell on all ranks
  }
  for (const std::string& complaint : gather_texts(context_.channels.control, mine))
    if (!complaint.empty()) return complaint;
  return {};
}

}  // namespace ddpkit
