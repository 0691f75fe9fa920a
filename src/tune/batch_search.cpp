#include "tune/batch_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "batch/divisors.hpp"
#include "ddpkit/base/error.hpp"
#include "ddpkit/base/figures.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/comm/agree.hpp"

namespace ddpkit {
namespace {

constexpr double kSweepShare = 0.8;   // of the budget; the rest is for the windows of the choice
constexpr double kMuchNoise = 3;      // times the wanted precision
constexpr double kSizesInSweep = 12;  // about so many are measured, so that one noisy size leaves time for the others

std::int64_t gradient_bytes(const Model& model) {
  std::int64_t bytes = 0;
  for (const NamedTensor& parameter : without_repeats(model.parameters()))
    if (parameter.tensor.requires_grad()) bytes += static_cast<std::int64_t>(parameter.tensor.nbytes());
  return bytes;
}

/// Before anything is made: whether the batch can be shared, and whether there is data for the smallest size.
BatchPlan first_plan(const RunConfig& config, Communicator& ranks, std::int64_t dataset) {
  const std::int64_t world = ranks.world_size(), micro = config.tune.min_micro;
  all_or_none(ranks, "batch", [&] {
    solve_batch({.global = config.batch.global}, world);
    if (config.tune.max_micro > 0 && micro > config.tune.max_micro)
      throw ConfigError(text("tune.min_micro ", micro, " exceeds tune.max_micro ", config.tune.max_micro, "; lower the first"));
    if (micro > dataset / world)
      throw ConfigError(text("tune.min_micro: ", world, " micro-batches of ", micro, " are more than the ", dataset,
                             " samples there are; lower it"));
  });
  return {.global = micro * world, .micro = micro, .accumulate = 1};
}

std::string milliseconds_text(std::chrono::milliseconds time) {
  return seconds_figure(std::chrono::duration<double>(time).count());
}

}  // namespace

BatchSearch::BatchSearch(const Trainer& trainer, const Dataset& train_set)
    : trainer_(trainer),
      config_(trainer.context().config),
      ranks_(trainer.context().channels.control),
      dataset_(train_set.size()),
      smallest_(config_.tune.min_micro),
      windows_(trainer, train_set, first_plan(config_, ranks_, dataset_)) {
  result_.profile = {.model = config_.run.name,
                     .device = trainer.context().device.is_cpu() ? "cpu" : "cuda",
                     .world_size = ranks_.world_size(),
                     .nodes = ranks_.topology().node_count,
                     .gradient_bytes = gradient_bytes(trainer.model()),
                     .memory_target = config_.memory.target,
                     .knee_efficiency = config_.tune.efficiency,
                     .dataset = dataset_};
}

TuneResult BatchSearch::run() {
  trainer_.context().log.info("tune", text("looking for the micro-batch of global batch ", grouped(config_.batch.global),
                                           " on ", ranks_.world_size(), ranks_.world_size() == 1 ? " rank" : " ranks", ", for ",
                                           milliseconds_text(config_.tune.budget), " at most"));
  find_smallest();
  note_memory();
  sweep();
  do choose();
  while (!verify());
  const Verified& verified = verified_.at(result_.choice.chosen.plan.micro);
  result_.predicted_step_seconds = verified.predicted_seconds;
  result_.verified = verified.summary;
  result_.profile.choice = result_.choice.chosen.plan;
  result_.profile.explanation = result_.choice.explanation;
  note_noise();
  return result_;
}

BatchPlan BatchSearch::single(std::int64_t micro) const {
  return {.global = micro * ranks_.world_size(), .micro = micro, .accumulate = 1};
}

std::int64_t BatchSearch::largest_by_data() const {
  const std::int64_t by_data = dataset_ / ranks_.world_size();
  return config_.tune.max_micro > 0 ? std::min(config_.tune.max_micro, by_data) : by_data;
}

/// Batch norm in training cannot do with a single sample, so where one is refused two are tried.
void BatchSearch::find_smallest() {
  const std::string complaint = windows_.complaint_about(smallest_);
  if (complaint.empty()) return;
  const bool may_try_two = smallest_ == 1 && largest_by_data() >= 2;
  if (!may_try_two || !windows_.complaint_about(2).empty()) throw on_all_ranks(Error(complaint));
  smallest_ = 2;
  result_.notes.push_back("a micro-batch of 1 was left out, since the loss function refuses it: " + complaint);
}

/// The rank with the least memory decides.
void BatchSearch::note_memory() {
  const std::vector<std::int64_t> limits = windows_.memory_limits();
  const auto least = std::ranges::min_element(limits);
  result_.profile.memory_limit = *least;
  if (*least < std::ranges::max(limits))
    result_.notes.push_back(text("rank ", least - limits.begin(), " has the least memory, ",
                                 bytes_figure(static_cast<double>(*least)), " of up to ",
                                 bytes_figure(static_cast<double>(std::ranges::max(limits))), ", and decides for all"));
}

void BatchSearch::sweep() {
  Sweep sweep({.min_micro = smallest_,
               .max_micro = largest_by_data(),
               .efficiency = config_.tune.efficiency,
               .memory_limit = result_.profile.memory_limit,
               .memory_target = config_.memory.target,
               .wanted = divisors(config_.batch.global / ranks_.world_size())});
  bool go_on = true;
  while (const auto micro = go_on ? sweep.next() : std::nullopt) {
    const SizeTrial trial = measure_size(windows_, single(*micro), limits());
    tell(trial);
    go_on = observe(sweep, trial);
    result_.profile.measured = sweep.measured();
    result_.profile.out_of_memory = sweep.out_of_memory();
    require_measured(trial);
  }
}

MeasureLimits BatchSearch::limits() const {
  const double budget = std::chrono::duration<double>(config_.tune.budget).count();
  return {.precision = config_.tune.precision,
          .warmup = config_.tune.warmup,
          .seconds = budget / kSizesInSweep,
          .deadline = kSweepShare * budget};
}

/// The choice is run in any case; where its steps are long, fewer of them.
MeasureLimits BatchSearch::limits_for(const RatedPlan& chosen) const {
  MeasureLimits limits = this->limits();
  const double windows = limits.seconds / chosen.step_seconds;
  if (windows < static_cast<double>(limits.fewest)) {
    limits.warmup = 0;
    limits.fewest = std::max<std::int64_t>(1, std::llround(windows));
  }
  limits.deadline = std::numeric_limits<double>::infinity();
  return limits;
}

/// Returns whether there is time for more.
bool BatchSearch::observe(Sweep& sweep, const SizeTrial& trial) {
  const std::int64_t micro = trial.summary.plan.micro;
  switch (trial.end) {
    case SizeTrial::End::out_of_memory: sweep.observe_out_of_memory(micro); break;
    case SizeTrial::End::measured: {
      if (sweep.measured().empty()) require_finite(trial);
      BatchProfile& profile = result_.profile;
      profile.communication_seconds = std::max(profile.communication_seconds, trial.summary.phases.reduce);
      profile.update_seconds = std::max(profile.update_seconds, trial.summary.phases.update);
      sweep.observe(trial.summary.measurement());
      break;
    }
    case SizeTrial::End::out_of_time: break;
  }
  const bool time_left = trial.end != SizeTrial::End::out_of_time && trial.elapsed_seconds < limits().deadline;
  if (!time_left && sweep.next() && !sweep.measured().empty())
    result_.notes.push_back(text("tune.budget of ", milliseconds_text(config_.tune.budget), " was used up before micro-batch ",
                                 grouped(*sweep.next()), " was measured; raise it for a closer search"));
  return time_left;
}

void BatchSearch::tell(const SizeTrial& trial) const {
  const WindowSummary& summary = trial.summary;
  const std::string micro = text("micro-batch ", grouped(summary.plan.micro), ": ");
  Logger& log = trainer_.context().log;
  if (trial.end == SizeTrial::End::out_of_memory) return log.info("tune", micro + trial.account);
  if (trial.end == SizeTrial::End::out_of_time) return log.info("tune", micro + "no time left");
  const MicroMeasurement measured = summary.measurement();
  std::string memory;
  if (measured.peak_bytes > 0) memory = ", " + bytes_figure(static_cast<double>(measured.peak_bytes));
  log.info("tune", text(micro, figure(measured.samples_per_second()), " samples/s per rank, within ",
                        percent_figure(measured.half_width / measured.seconds), memory));
}

void BatchSearch::require_measured(const SizeTrial& last) const {
  if (!result_.profile.measured.empty()) return;
  if (last.end == SizeTrial::End::out_of_memory)
    throw on_all_ranks(Error(text("not even a micro-batch of ", smallest_, smallest_ == 1 ? " sample" : " samples",
                                  " fits: ", last.account, "; raise memory.limit or make the model smaller"),
                             ExitStatus::memory));
  throw on_all_ranks(ConfigError(text("tune.budget of ", milliseconds_text(config_.tune.budget),
                                      " was used up before one measurement of micro-batch ", smallest_, " was complete (",
                                      seconds_figure(last.elapsed_seconds), " so far); raise it")));
}

/// The weights hardly move here, so it is not the learning rate.
void BatchSearch::require_finite(const SizeTrial& first) const {
  if (first.not_finite == 0) return;
  if (first.not_finite < first.summary.windows + config_.tune.warmup) {
    trainer_.context().log.warning("tune", text("in ", first.not_finite, " windows a loss or gradient was not finite; ",
                                                "their times count, but look at the data before you train"));
    return;
  }
  throw on_all_ranks(
      Error("tune: no loss is finite with the weights that the run begins with, so times would say little; look "
            "at the loss function, the data (data.transform) and the initial weights",
            ExitStatus::diverged));
}

void BatchSearch::choose() {
  all_or_none(ranks_, "choosing the batch", [&] {
    result_.choice = choose_batch(result_.profile, config_.batch.global, ranks_.world_size());
    if (result_.choice.chosen.plan.micro < smallest_)
      throw ConfigError(text("batch.global ", config_.batch.global, " leaves each rank micro-batches below ", smallest_,
                             ", which the loss function refuses; raise it"));
  });
}

/// Runs the chosen plan. Returns whether the choice stands.
bool BatchSearch::verify() {
  const RatedPlan& chosen = result_.choice.chosen;
  if (verified_.contains(chosen.plan.micro)) return true;
  const SizeTrial trial = measure_size(windows_, chosen.plan, limits_for(chosen));
  if (trial.end == SizeTrial::End::out_of_memory) {
    result_.notes.push_back(text("micro-batch ", chosen.plan.micro, " x accumulate ", chosen.plan.accumulate,
                                 " ran out of memory, although it was predicted to fit: ", trial.account));
    std::vector<std::int64_t>& failed = result_.profile.out_of_memory;
    failed.insert(std::ranges::upper_bound(failed, chosen.plan.micro), chosen.plan.micro);
    return false;
  }
  verified_[chosen.plan.micro] = {.predicted_seconds = chosen.step_seconds, .summary = trial.summary};
  take_verified(trial.summary);
  return false;  // chosen once more, now with its own times
}

/// On a machine with other work to do the choice is a guess.
void BatchSearch::note_noise() {
  double widest = 0;
  for (const MicroMeasurement& at : result_.profile.measured) widest = std::max(widest, at.half_width / at.seconds);
  if (widest > kMuchNoise * config_.tune.precision)
    result_.notes.push_back(text("times vary so much (", percent_figure(widest),
                                 " to each side, where tune.precision asks for ", percent_figure(config_.tune.precision),
                                 ") that another search may choose otherwise; is the machine busy? Raise tune.budget"));
}

void BatchSearch::take_verified(const WindowSummary& verified) {
  BatchProfile& profile = result_.profile;
  profile.communication_seconds = verified.phases.reduce;
  profile.update_seconds = verified.phases.update;
  const auto at = std::ranges::lower_bound(profile.measured, verified.plan.micro, {}, &MicroMeasurement::micro);
  if (at == profile.measured.end() || at->micro != verified.plan.micro)
    profile.measured.insert(at, verified.measurement());
  else
    at->peak_bytes = std::max(at->peak_bytes, verified.peak_bytes());
}

}  // namespace ddpkit
