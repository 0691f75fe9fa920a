#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ddpkit/batch/batch_options.hpp"
#include "ddpkit/data/data_options.hpp"
#include "ddpkit/data/sharded_sampler.hpp"
#include "ddpkit/schedule/run_point.hpp"

namespace ddpkit {

/// How large a window is, and for which batch the learning rate is meant.
struct BatchInForce {
  std::int64_t global = 0;
  double rate_batch = 0;  ///< Progress::rate_batch: stays under `lr: hold`, follows `global` in proportion under `lr: scale`

  friend bool operator==(const BatchInForce&, const BatchInForce&) = default;
};

/// What holds after a change of the batch.
BatchInForce changed(const BatchInForce& before, std::int64_t global, RateChange lr);

/// `batch.schedule`, or `batch.growth` by the calendar, as a function of how far the run has come: no state, nothing to save,
/// the same on every rank and for every world size. A change waits for the end of the window in which it comes due, never cuts
/// one short, and each row waits for the one before it. What is left to measurements (growth by noise scale, halving) is not in
/// here.
class BatchSchedule {
 public:
  /// Throws ConfigError that names the row when a batch is larger than the data set.
  BatchSchedule(const BatchOptions& options, const RunBounds& run, Tail tail);

  /// What the window that starts at `point` has.
  BatchInForce at(const RunPoint& point) const;

  /// Whether the batch ever changes.
  bool constant() const noexcept { return rows_.empty(); }

  /// All changes, in order; those that growth makes too.
  const std::vector<BatchChange>& rows() const noexcept { return rows_; }

  const RunBounds& run() const noexcept { return run_; }

  /// Windows in the whole run, counted by going through its epochs: of each the windows before, between and after its changes,
  /// and its tail.
  std::int64_t steps() const;

 private:
  std::int64_t windows_to_change(const RunPoint& point, std::int64_t global) const;

  std::int64_t first_;
  std::vector<BatchChange> rows_;
  RunBounds run_;
  Tail tail_;
};

/// Whether the options let the batch change at all, by whatever rule.
bool may_change(const BatchOptions& options);

/// The largest global batch that growth may reach.
std::int64_t growth_limit(const GrowthOptions& growth, std::int64_t samples);

/// Progress::rate_step in a run that is given in epochs: the number of the last window that a run at the constant batch of
/// `first` would have begun with the samples that are consumed when `window` is done. The clock of a schedule whose steps are
/// not to run faster or slower because the windows have another size; where they have the size of `first`, it is the step
/// itself.
std::int64_t step_at_constant_batch(const WindowRange& window, const ShardedSampler& sampler, const ShardedSampler& first);

/// "batch.schedule[1]" and so on, to be named in errors: solves each row for `world_size`. Throws ConfigError with the row.
void require_schedule_fits(const BatchOptions& options, std::int64_t world_size);

}  // namespace ddpkit
