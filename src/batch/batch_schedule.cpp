#include "ddpkit/batch/batch_schedule.hpp"

#include <algorithm>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/batch/batch_plan.hpp"

namespace ddpkit {
namespace {

/// Growth by the calendar is a table that nobody had to write.
std::vector<BatchChange> growth_rows(const BatchOptions& options, std::int64_t samples) {
  const GrowthOptions& growth = options.growth;
  std::vector<BatchChange> rows;
  if (growth.by != GrowthBy::geometric) return rows;
  const std::int64_t limit = growth_limit(growth, samples);
  std::int64_t global = options.global;
  while (global <= limit / growth.factor) {
    global *= growth.factor;
    const double laps = static_cast<double>(rows.size() + 1);
    rows.push_back({.at = {laps * growth.every.amount, growth.every.unit}, .global = global, .lr = growth.lr});
  }
  return rows;
}

void require_samples(const std::vector<BatchChange>& rows, std::int64_t samples) {
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i].global > samples)
      throw ConfigError(text("batch.schedule[", i, "].global: ", rows[i].global, " samples in one step, but the data set has ",
                             samples, "; give at most that"));
}

ShardedSampler one_rank(const RunBounds& run, std::int64_t global, Tail tail) {
  return ShardedSampler(run.samples, {.global = global, .tail = tail});
}

}  // namespace

BatchInForce changed(const BatchInForce& before, std::int64_t global, RateChange lr) {
  const double factor = static_cast<double>(global) / static_cast<double>(before.global);
  return {global, lr == RateChange::scale ? before.rate_batch * factor : before.rate_batch};
}

BatchSchedule::BatchSchedule(const BatchOptions& options, const RunBounds& run, Tail tail)
    : first_(options.global), rows_(options.schedule), run_(run), tail_(tail) {
  require_samples(rows_, run.samples);
  if (rows_.empty()) rows_ = growth_rows(options, run.samples);
}

BatchInForce BatchSchedule::at(const RunPoint& point) const {
  BatchInForce now{first_, static_cast<double>(first_)};
  for (const BatchChange& row : rows_) {
    if (!has_passed(row.at, {}, point, run_)) break;
    now = changed(now, row.global, row.lr);
  }
  return now;
}

std::int64_t BatchSchedule::windows_to_change(const RunPoint& point, std::int64_t global) const {
  for (const BatchChange& row : rows_)
    if (!has_passed(row.at, {}, point, run_)) return windows_until(row.at, point, global, run_);
  return run_.samples;  // more than an epoch has
}

std::int64_t BatchSchedule::steps() const {
  if (run_.steps > 0) return run_.steps;
  RunPoint point;
  while (!run_.over(point)) {
    const std::int64_t global = at(point).global;
    const std::int64_t left = one_rank(run_, global, tail_).windows_from(point.position);
    const std::int64_t windows = std::min(left, windows_to_change(point, global));
    point.step += windows;
    point.position += windows * global;
    if (windows == left) point = {.step = point.step, .epoch = point.epoch + 1, .position = 0};
  }
  return point.step;
}

bool may_change(const BatchOptions& options) {
  return !options.schedule.empty() || options.growth.by != GrowthBy::none || options.shrink.oscillations > 0;
}

std::int64_t growth_limit(const GrowthOptions& growth, std::int64_t samples) {
  return growth.max > 0 ? std::min(growth.max, samples) : samples;
}

std::int64_t step_at_constant_batch(const WindowRange& window, const ShardedSampler& sampler, const ShardedSampler& first) {
  const std::int64_t per_epoch = first.windows_per_epoch();
  const std::int64_t global = first.options().global;
  const bool ends_epoch = sampler.windows_from(window.end) < 1;
  const std::int64_t begun = ends_epoch ? per_epoch : std::min(per_epoch, (window.end + global - 1) / global);
  return window.epoch * per_epoch + begun - 1;
}

void require_schedule_fits(const BatchOptions& options, std::int64_t world_size) {
  for (std::size_t i = 0; i < options.schedule.size(); ++i) try {
      solve_batch({.global = options.schedule[i].global}, world_size);
    } catch (const ConfigError& error) {
      throw ConfigError(text("batch.schedule[", i, "]: ", error.what()));
    }
}

}  // namespace ddpkit
