#pragma once

#include <memory>
#include <string_view>

#include "ddpkit/batch/batch_plan.hpp"
#include "ddpkit/observe/metric_hub.hpp"
#include "ddpkit/observe/tally.hpp"
#include "ddpkit/reduce/reducer.hpp"
#include "ddpkit/schedule/progress.hpp"
#include "ddpkit/schedule/run_length.hpp"
#include "ddpkit/step/step_result.hpp"
#include "ddpkit/train/trainer.hpp"
#include "train/metric_list.hpp"
#include "train/noise_monitor.hpp"

namespace ddpkit {

/// Turns steps and evaluations into metric records: one every `metrics.every` steps, over the steps since the one before.
class Recorder {
 public:
  /// All arguments must outlive it.
  Recorder(const TrainerContext& context, const MetricList& metrics, const RunLength& length);

  /// Over the last steps.
  const NoiseMonitor& noise() const noexcept { return noise_; }

  void start(const Progress& progress, const BatchPlan& batch, std::int64_t samples_per_epoch);

  /// Something that happened once.
  void record_event(const Progress& progress, std::string_view text, Shown shown = Shown::always);

  /// One micro-batch of this rank, for the metrics that need the model's output.
  void add(const Batch& batch, const Loss& loss);

  /// Drops the micro-batches since the last step: their window was given up.
  void forget_window() { window_.clear(); }

  /// A step. Collective where a record is due and there are metrics.
  void record(const Progress& progress, const StepResult& result);
  void record_evaluation(const Progress& progress, const Tally& evaluation);

  /// The last words of the run, and what it learned about its batch; then everything is on disk. Collective where steps wait
  /// for a record and there are metrics.
  void finish(const Progress& progress, std::string_view text);

  /// Since the start of this call, over all ranks.
  double samples_trained() const noexcept { return samples_; }

 private:
  /// What has come in since the last record.
  struct Since {
    Tally metrics;  ///< of this rank
    double samples = 0;
    double loss = 0;
    double count = 0;
    double seconds = 0;
    double data_seconds = 0;
    double reduce_seconds = 0;
    double skipped = 0;
  };

  void write(const Progress& progress);
  MetricRecord new_record(RecordKind kind, const Progress& progress) const;

  const TrainerContext& context_;
  const MetricList& metrics_;
  RunLength length_;
  std::unique_ptr<MetricHub> hub_;
  NoiseMonitor noise_;
  Tally window_;  // of this rank, in the window that is under way
  Since since_;
  StepResult last_;
  double samples_ = 0;
};

/// The value of "valid/loss" or "valid/<metric>" in an evaluation. Throws ConfigError, naming what there is, for other names.
double monitored_value(const Tally& evaluation, std::string_view monitor);

}  // namespace ddpkit
