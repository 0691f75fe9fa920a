#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ddpkit/base/placement.hpp"
#include "ddpkit/batch/step_profile.hpp"
#include "ddpkit/tune/window_summary.hpp"

namespace ddpkit {

/// What windows of the configured batch take: the result of the verb `probe`.
struct ProbeReport {
  int world_size = 1;
  int nodes = 1;
  std::string device = "cpu";
  double memory_target = 0.9;  ///< part of the limit that a batch may use
  WindowSummary summary;       ///< without windows where memory ran out
  std::string out_of_memory;   ///< who, where, with what; empty: there was enough
  std::int64_t not_finite = 0;
  std::vector<Placement> placement;
  std::optional<StepProfile> step_profile{};  ///< of this rank, where it was recorded

  /// Of the limit, on the fullest rank; 0: not known.
  double memory_share() const noexcept;
  bool fits() const noexcept { return out_of_memory.empty() && memory_share() <= memory_target; }
};

/// In words: whether the batch fits and with which headroom, where the time goes, and what to change.
std::string verdict(const ProbeReport& report);

/// Memory and time by phase, and the verdict, for a terminal.
std::string probe_text(const ProbeReport& report);

/// One JSON document. Numbers keep all their digits.
std::string probe_json(const ProbeReport& report);

}  // namespace ddpkit
