#pragma once

#include <string>
#include <vector>

#include "ddpkit/batch/batch_profile.hpp"
#include "ddpkit/batch/choose_batch.hpp"
#include "ddpkit/data/dataset.hpp"
#include "ddpkit/train/trainer.hpp"
#include "ddpkit/tune/window_summary.hpp"

namespace ddpkit {

/// What the search for a batch came to. Equal on all ranks.
struct TuneResult {
  BatchProfile profile;
  BatchChoice choice;
  double predicted_step_seconds = 0;  ///< of the chosen plan, before it was run
  WindowSummary verified;             ///< windows of the chosen plan itself, with its accumulation
  std::vector<std::string> notes;     ///< sentences about what a reader should know, such as sizes that were left out
};

/// Measures micro-batches on the live model and chooses the one for `batch.global`, as section `tune` says: sweep, choice, and
/// real windows of the chosen plan. Collective, equal on all ranks. Afterwards parameters, buffers, gradients, modes and
/// generators are bit for bit what they were. Memory that runs out on any rank is an answer of the search.
///
/// Throws on all ranks, each with what to change: Error (ExitStatus::memory) when not even the smallest size fits and
/// (ExitStatus::diverged) when no loss of it is finite; ConfigError when `tune.budget` ends before one measurement, and when no
/// whole numbers make the batch; and what planning a run and the loss function throw.
TuneResult tune_batch(const Trainer& trainer, const Dataset& train_set);

}  // namespace ddpkit
