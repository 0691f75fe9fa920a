#pragma once

#include <map>
#include <string>

#include "ddpkit/batch/sweep.hpp"
#include "ddpkit/tune/tune_batch.hpp"
#include "tune/measure_size.hpp"
#include "tune/trial_windows.hpp"

namespace ddpkit {

/// One call of tune_batch. Every decision is made from numbers that all ranks have.
class BatchSearch {
 public:
  BatchSearch(const Trainer& trainer, const Dataset& train_set);

  TuneResult run();

 private:
  BatchPlan single(std::int64_t micro) const;  ///< without accumulation
  std::int64_t largest_by_data() const;
  void find_smallest();
  void note_memory();
  void sweep();
  bool observe(Sweep& sweep, const SizeTrial& trial);
  void tell(const SizeTrial& trial) const;
  void require_measured(const SizeTrial& last) const;
  void require_finite(const SizeTrial& first) const;
  void choose();
  bool verify();
  void note_noise();
  void take_verified(const WindowSummary& verified);
  MeasureLimits limits() const;
  MeasureLimits limits_for(const RatedPlan& chosen) const;

  const Trainer& trainer_;
  const RunConfig& config_;
  Communicator& ranks_;
  std::int64_t dataset_;
  std::int64_t smallest_;
  TrialWindows windows_;
  TuneResult result_;

  /// A chosen plan that ran with its accumulation.
  struct Verified {
    double predicted_seconds = 0;  ///< of a step, before it ran
    WindowSummary summary;
  };
  std::map<std::int64_t, Verified> verified_;  ///< by micro-batch
};

}  // namespace ddpkit
