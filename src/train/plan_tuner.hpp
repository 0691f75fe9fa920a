#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ddpkit/batch/reduction_cost.hpp"
#include "ddpkit/observe/clock.hpp"
#include "ddpkit/reduce/grad_reducer.hpp"
#include "ddpkit/step/step_result.hpp"

namespace ddpkit {

/// comm.plan: measured. Looks at the first windows of a run, gives every rank rank 0's plan between two of them, and says what
/// came of it. A plan from a checkpoint is taken as it is.
class PlanTuner {
 public:
  /// `reducer` must outlive it. `clock` times reductions.
  PlanTuner(GradReducer& reducer, const ReducerOptions& options, Clock clock = {})
      : reducer_(reducer), options_(options), clock_(std::move(clock)) {}

  /// Collective. `saved` is what `chosen` was in an earlier part of the run. Returns what rank 0 should tell, if anything.
  std::string start(const std::optional<std::string>& saved);

  /// After each step; collective after some. Returns what rank 0 should tell, if anything.
  std::string observe(const StepResult& result);

  /// The plan in use as text, once there has been a choice. Equal on all ranks.
  std::optional<std::string> chosen() const;

 private:
  enum class Phase {
    off,        ///< nothing to do, or all done
    measuring,  ///< with the plan by size
    comparing,  ///< with the plan by time
  };

  /// What steps took on this rank, one figure for each.
  struct Times {
    std::vector<double> step;
    std::vector<double> waiting;  ///< for gradients after backward
  };

  void begin_measuring();
  void remember_readiness();
  std::vector<std::optional<double>> ready_seconds() const;
  std::string decide();
  std::string gain() const;

  GradReducer& reducer_;
  ReducerOptions options_;
  Clock clock_;
  ReductionCost cost_;
  Phase phase_ = Phase::off;
  bool decided_ = false;
  std::int64_t windows_ = 0;  ///< of this phase
  Times before_;
  Times after_;
  std::vector<std::vector<double>> ready_;  ///< by gradient: seconds after the first of its window
  std::size_t buckets_before_ = 0;
  double expected_seconds_ = 0;  ///< by which the last bucket should arrive earlier
};

}  // namespace ddpkit
