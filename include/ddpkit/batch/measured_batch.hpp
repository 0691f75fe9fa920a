#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ddpkit/batch/batch_options.hpp"
#include "ddpkit/batch/batch_schedule.hpp"
#include "ddpkit/batch/noise_scale.hpp"
#include "ddpkit/batch/turn_counter.hpp"
#include "ddpkit/schedule/run_point.hpp"

namespace ddpkit {

/// The global batch where measurements decide: growth by noise scale, or halving when the validation loss swings. A state
/// machine that every rank runs on the same numbers, so that all agree without asking. Its state goes into the checkpoint.
class MeasuredBatch {
 public:
  struct State {
    BatchInForce now;
    RunPoint changed_at;
    TurnCounter::State swings;
  };

  /// `world_size`: no batch is made that it does not divide.
  MeasuredBatch(const BatchOptions& options, const RunBounds& run, std::int64_t world_size);

  const BatchInForce& now() const noexcept { return state_.now; }

  /// growth.by: noise_scale. Multiplies the batch by `factor` when the noise scale is at least the batch it leads to, the whole
  /// band of the estimate lies above the present one, `every` has passed since the last change and `max` allows it. Returns why
  /// in words, or nothing when the batch stays.
  std::optional<std::string> consider(const RunPoint& point, const NoiseEstimate& estimate);

  /// shrink. Halves the batch when the validation loss has turned `oscillations` times in a row, and `min` and the ranks allow
  /// it; then counts anew.
  std::optional<std::string> consider(const RunPoint& point, double validation_loss);

  const State& state() const noexcept { return state_; }
  void set_state(const State& state) { state_ = state; }

 private:
  void change(const RunPoint& point, std::int64_t global, RateChange lr);

  BatchOptions options_;
  RunBounds run_;
  std::int64_t world_size_;
  State state_;
};

}  // namespace ddpkit
