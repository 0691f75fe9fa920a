#pragma once

#include "ddpkit/observe/tally.hpp"
#include "ddpkit/schedule/progress.hpp"
#include "ddpkit/step/step_result.hpp"

namespace ddpkit {

/// Whether training goes on. A stop asked for on any rank stops all of them after the same step: the next one, since the wish
/// travels with its gradients.
enum class Flow { go_on, stop };

/// What a program may do at certain moments of training. Every function is called on all ranks, so collectives are allowed as
/// long as all ranks issue them.
class Callback {
 public:
  virtual ~Callback() = default;

  /// After each optimizer step. `progress` is where the run stands now.
  virtual Flow on_step_end(const Progress& progress, const StepResult& result) {
    (void)progress, (void)result;
    return Flow::go_on;
  }

  /// After each evaluation during training; `metrics` are already over all ranks.
  virtual Flow on_evaluation(const Progress& progress, const Tally& metrics) {
    (void)progress, (void)metrics;
    return Flow::go_on;
  }
};

}  // namespace ddpkit
