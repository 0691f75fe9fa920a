#pragma once

#include <cstdint>
#include <string>

#include "ddpkit/data/dataset.hpp"
#include "ddpkit/train/trainer.hpp"
#include "ddpkit/tune/probe_report.hpp"

namespace ddpkit {

struct ProbeOptions {
  std::int64_t windows = 1;    ///< after `tune.warmup` others
  std::string profile_file{};  ///< where the caller writes the report's step profile; empty: none is recorded
};

/// Runs real windows of the configured batch and measures them. Collective, equal on all ranks. Afterwards parameters, buffers,
/// gradients, modes and generators are bit for bit what they were; memory that runs out is a result, not an error. The report's
/// placement is left to the caller. Throws what planning a run throws, and what the loss function throws.
ProbeReport probe(const Trainer& trainer, const Dataset& train_set, const ProbeOptions& options = {});

}  // namespace ddpkit
