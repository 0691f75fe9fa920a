#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "ddpkit/batch/step_profile.hpp"
#include "ddpkit/reduce/grad_reducer.hpp"

namespace ddpkit {

/// What one rank did in one window.
struct RecordedWindow {
  GradReducer::Moment backward_began;  ///< the last one of the window
  double backward_seconds = 0;         ///< of that
  double forward_seconds = 0;          ///< of all before it
  double update_seconds = 0;
};

/// Makes a step profile out of windows that wait for nobody.
class ProfileRecorder {
 public:
  /// `reducer` must outlive it. It records readiness from here on.
  explicit ProfileRecorder(GradReducer& reducer);

  /// The window that has just ended.
  void add(const RecordedWindow& window);

  /// Medians over the windows. Without names and counts of the run, which the caller knows. At least one window.
  StepProfile profile() const;

 private:
  GradReducer& reducer_;
  std::vector<double> forward_;
  std::vector<double> backward_;
  std::vector<double> update_;
  std::vector<std::vector<double>> ready_;  // by gradient
};

}  // namespace ddpkit
