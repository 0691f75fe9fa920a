#include "train/training_run.hpp"

#include <chrono>
#include <cmath>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/optim/make_optimizer.hpp"
#include "ddpkit/reduce/parameter_sync.hpp"
#include "train/located_loss.hpp"
#include "train/metric_list.hpp"

namespace ddpkit {

namespace {

std::string changes_text(const BatchOptions& batch) {
  std::string rows;
  for (const BatchChange& row : batch.schedule)
    rows += text(rows.empty() ? "" : ", ", row.global, " at ", format_scalar(row.at), " (lr ", name_of(row.lr), ")");
  const GrowthOptions& growth = batch.growth;
  if (growth.by != GrowthBy::none)
    rows += text("growth by ", name_of(growth.by), " every ", format_scalar(growth.every), ", factor ", growth.factor, ", max ",
                 growth.max, " (lr ", name_of(growth.lr), ")");
  if (batch.shrink.oscillations > 0)
    rows += text("halving after ", batch.shrink.oscillations, " oscillations, min ", batch.shrink.min, " (lr ",
                 name_of(batch.shrink.lr), ")");
  return rows.empty() ? "nothing" : rows;
}

RunIdentity identity_of(const RunConfig& config, const TrainingPlan& plan) {
  return {{"batch.global", text(config.batch.global)},
          {"what changes the batch", changes_text(config.batch)},
          {"run.seed", text(config.run.seed)},
          {"data.order", std::string(name_of(config.data.order))},
          {"data.tail", std::string(name_of(config.data.tail))},
          {"samples in the training data", text(plan.loader->sampler().samples())}};
}

}  // namespace

TrainingRun::TrainingRun(Trainer& trainer, const Dataset& train_set, const Dataset* valid_set)
    : trainer_(trainer),
      config_(trainer.context_.config),
      channels_(trainer.context_.channels),
      valid_set_(valid_set),
      plan_(plan_training({trainer.context_, trainer.model_, train_set, trainer.sample_weights_})),
      batch_(config_, *plan_, channels_.control),
      parameters_(trainer.model_.parameters()),
      reducer_(parameters_, channels_, plan_->reducer),
      plan_tuner_(reducer_, plan_->reducer),
      optimizer_(make_optimizer(reducer_, plan_->optimizer)),
      stepper_(reducer_, *optimizer_, plan_->schedule, config_.step),
      recorder_(trainer.context_, trainer.metrics_, plan_->length),
      memory_({trainer.context_, stepper_, *plan_->loader, recorder_, trainer.savings_}),
      snapshot_(trainer.model_, *optimizer_, trainer.context_, identity_of(config_, *plan_)),
      best_(config_.train),
      loss_(located(trainer.loss(), [this] { return text("step ", stepper_.progress().step); })) {
  if (valid_set != nullptr) require_monitored_metric();
  if (valid_set == nullptr && config_.batch.shrink.oscillations > 0)
    throw on_all_ranks(
        ConfigError("batch.shrink: halves on the validation loss and there is no validation set; set data.valid"));
  if (config_.reducer.plan == PlanBy::measured && config_.step.cuda_graph == CudaGraph::on)
    throw on_all_ranks(ConfigError(
        "comm.plan: measured watches gradients one by one, which a recorded graph hides; set step.cuda_graph: off"));
  stepper_.set_seed(static_cast<std::uint64_t>(config_.run.seed));
  stepper_.set_device(trainer.context_.device);
  batch_.noise = [this] { return recorder_.noise().estimate(); };
  if (recorder_.noise().wanted()) stepper_.set_noise(GradientNoise::measured);
  stepper_.on_micro_batch = [this](const Batch& batch, const Loss& loss) { recorder_.add(batch, loss); };
  stepper_.wish = [this] { return wish(); };
  if (keeps_buffers()) stepper_.buffers = [&model = trainer.model_] { return model.buffers(); };
}

TrainSummary TrainingRun::run() {
  start();
  while (summary_.end == TrainSummary::End::complete && enter_window()) {
    step();
    if (due(config_.train.evaluate_every)) {
      evaluate();
      if (valid_set_ != nullptr) batch_.observe_validation(stepper_.progress(), summary_.evaluation.value("loss"));
    }
    if (due(config_.checkpoint.every)) save(Standing::ordinary, SaveFailure::warn);
  }
  return finish();
}

void TrainingRun::start() {
  trainer_.model_.ensure_training();
  RunState state;
  if (snapshot_.resume(state)) {
    stepper_.set_progress(state.progress);
    batch_.resume(state.sampler, state.batch);
    best_.set_state(state.best);
    if (state.fitting_micro) memory_.remember(*state.fitting_micro);
    saved_at_ = state.progress.step;
    const bool stopped_early = config_.train.patience > 0 && state.best.without_improvement >= config_.train.patience;
    if (stopped_early) summary_.end = TrainSummary::End::early;
  }
  started_at_ = stepper_.progress().step;
  arrive();
  recorder_.start(stepper_.progress(), plan_->batch, plan_->loader->sampler().samples());
  tell(plan_tuner_.start(state.bucket_plan));
}

void TrainingRun::tell(const std::string& event) {
  if (!event.empty()) recorder_.record_event(stepper_.progress(), event);
}

/// Returns whether there is one more.
bool TrainingRun::enter_window() {
  Progress progress = stepper_.progress();
  const BatchCourse::Next next = batch_.enter_window(progress);
  stepper_.set_progress(progress);
  tell(next.change);
  return next.window;
}

/// Takes note of where the run stands between two windows.
void TrainingRun::arrive() {
  Progress progress = stepper_.progress();
  before_ = here_;
  here_ = batch_.here(progress);
  progress.epoch =
      static_cast<double>(here_.epoch) + static_cast<double>(here_.position) / static_cast<double>(plan_->bounds.samples);
  stepper_.set_progress(progress);
}

void TrainingRun::step() {
  const auto start = std::chrono::steady_clock::now();
  const StepResult result = memory_.run(plan_->loader->next_window(), loss_);
  if (memory_.learned()) trainer_.fitting_micro_ = memory_.learned()->fits;
  summary_.train_seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  arrive();
  if (result.step == started_at_) {
    require_same_parameters();
    tell_unused();
  }
  recorder_.record(stepper_.progress(), result);
  tell(plan_tuner_.observe(result));
  for (const auto& callback : trainer_.callbacks_)
    callback_stop_ |= callback->on_step_end(stepper_.progress(), result) == Flow::stop;
  if (result.wish == Wish::finish) summary_.end = TrainSummary::End::early;
  if (result.wish == Wish::save_and_stop) summary_.end = TrainSummary::End::stopped;
}

/// Where a window may be skipped or tried again, so that running statistics count it once or not at all.
bool TrainingRun::keeps_buffers() const {
  const bool may_repeat = config_.step.non_finite == NonFinite::skip || config_.memory.when_full == WhenFull::ladder;
  return may_repeat && !trainer_.model_.buffers().empty();
}

Wish TrainingRun::wish() const {
  if (signal_.requested()) return Wish::save_and_stop;
  return callback_stop_ ? Wish::finish : Wish::go_on;
}

bool TrainingRun::due(const Extent& every) const {
  return laps(every, here_, plan_->bounds) > laps(every, before_, plan_->bounds);
}

void TrainingRun::evaluate() {
  if (valid_set_ == nullptr || evaluated_at_ == stepper_.progress().step) return;
  evaluated_at_ = stepper_.progress().step;
  require_same_parameters();
  summary_.evaluation = trainer_.evaluate(*valid_set_);
  recorder_.record_evaluation(stepper_.progress(), summary_.evaluation);
  for (const auto& callback : trainer_.callbacks_)
    callback_stop_ |= callback->on_evaluation(stepper_.progress(), summary_.evaluation) == Flow::stop;
  if (evaluated_at_ == started_at_) return;  // nothing was trained: the run has seen this value before
  const BestTracker::Verdict verdict = best_.observe(monitored_value(summary_.evaluation, config_.train.monitor));
  if (verdict.improved && config_.checkpoint.best) save(Standing::best, SaveFailure::warn);
  if (verdict.stop && !finished()) {
    trainer_.context_.log.info("trainer", text("stopped early: ", config_.train.monitor, " has not got better for ",
                                               config_.train.patience, " evaluations"));
    summary_.end = TrainSummary::End::early;
  }
}

void TrainingRun::save(Standing standing, SaveFailure on_failure) {
  if (saved_at_ == stepper_.progress().step) return;
  average_buffers(trainer_.model_.buffers(), channels_);
  const RunState state{.progress = stepper_.progress(),
                       .sampler = plan_->loader->state(),
                       .best = best_.state(),
                       .batch = batch_.state(),
                       .fitting_micro = memory_.learned(),
                       .bucket_plan = plan_tuner_.chosen()};
  if (snapshot_.save(state, standing, on_failure)) saved_at_ = stepper_.progress().step;
}

TrainSummary TrainingRun::finish() {
  if (summary_.end != TrainSummary::End::stopped) evaluate();
  save(Standing::ordinary, SaveFailure::raise);
  summary_.progress = stepper_.progress();
  summary_.counters = reducer_.counters();
  if (summary_.train_seconds > 0) summary_.samples_per_second = recorder_.samples_trained() / summary_.train_seconds;
  recorder_.finish(summary_.progress, last_words());
  return summary_;
}

std::string TrainingRun::last_words() const {
  const ReduceCounters& counters = summary_.counters;
  return text("trained ", summary_.progress.step - started_at_, " steps in ", std::round(summary_.train_seconds * 10) / 10,
              " s, ", std::llround(summary_.samples_per_second), " samples/s; rank 0 issued ", counters.collectives,
              " gradient collectives (", counters.sent_during_backward, " before backward was done, ", counters.early_gradients,
              " gradients came after the first of the last step) and waited ", std::round(counters.exposed_seconds * 10) / 10,
              " s for them");
}

/// Asks for it before hours of training, not after.
void TrainingRun::require_monitored_metric() const {
  Tally names;
  open_tally(names, trainer_.metrics_);
  monitored_value(names, config_.train.monitor);
}

void TrainingRun::tell_unused() const {
  for (const std::string& name : reducer_.unused())
    trainer_.context_.log.info("trainer", text("parameter ", name,
                                               " got no gradient on any rank in the first step and is not "
                                               "updated; freeze it, or set comm.unused: error"));
}

/// A parameter that the program has replaced would train nowhere: its hook and its moments belong to the one before.
void TrainingRun::require_same_parameters() const {
  const std::vector<NamedTensor> now = trainer_.model_.parameters();
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    if (i >= now.size() || !now[i].tensor.is_same(parameters_[i].tensor))
      throw UsageError(text("parameter ", parameters_[i].name,
                            " was replaced by another tensor after training began, which leaves ",
                            "it out of the update; copy into it instead: parameter.copy_(values) under NoGradGuard"));
}

}  // namespace ddpkit
