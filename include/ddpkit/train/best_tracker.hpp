#pragma once

#include <cstdint>
#include <optional>

#include "ddpkit/train/train_options.hpp"

namespace ddpkit {

/// Decides which evaluation is the best so far and when to stop early. The values it sees are equal on all ranks, so its
/// answers are as well.
class BestTracker {
 public:
  explicit BestTracker(const TrainOptions& options) : options_(options) {}

  struct Verdict {
    bool improved = false;
    bool stop = false;
  };

  /// A value that is not finite is never an improvement.
  Verdict observe(double value);

  struct State {
    std::optional<double> best;
    std::int64_t without_improvement = 0;
  };
  const State& state() const noexcept { return state_; }
  void set_state(const State& state) { state_ = state; }

 private:
  TrainOptions options_;
  State state_;
};

}  // namespace ddpkit
