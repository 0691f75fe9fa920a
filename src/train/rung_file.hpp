#pragma once

#include <cstdint>
#include <span>

#include "ddpkit/batch/ladder.hpp"
#include "ddpkit/train/trainer.hpp"

namespace ddpkit {

/// A rung as it is written down.
struct RungRecord {
  std::int64_t step = 0;
  const RungDecision& decision;
  std::span<const MemoryAccount> accounts;  ///< in rank order
};

/// Appends a line of JSON to `ladder.jsonl` in the run folder, if there is one. A file that cannot be written is a warning.
void append_rung(const TrainerContext& context, const RungRecord& record);

}  // namespace ddpkit
