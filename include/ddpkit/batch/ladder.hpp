#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ddpkit {

/// Where in a window memory ran out.
enum class MemoryPhase { none, batch, forward, backward, optimizer };

/// What one rank tells of a window that was given up.
struct MemoryAccount {
  MemoryPhase phase = MemoryPhase::none;  ///< none: this rank had enough
  std::int64_t live = 0;                  ///< bytes, when it failed or when the window ended
  std::int64_t peak = 0;
  std::int64_t reserved = 0;
  std::int64_t limit = 0;
  std::int64_t growth = 0;  ///< bytes by which live memory after a step has grown, step for step, over the last windows: a leak
};

/// What can be done, in this order.
enum class Rung { release_cache, bf16, recompute, halve_micro, end };

/// What has been done so far. Equal on all ranks.
struct LadderState {
  std::int64_t micro = 1;
  std::int64_t rungs_in_window = 0;
  bool cache_released = false;  ///< in this window
  bool bf16_left = false;       ///< allowed, and not on yet
  bool recompute_left = false;
};

struct RungDecision {
  Rung rung = Rung::end;
  std::int64_t micro = 1;  ///< from here on
  std::string reason;      ///< in words, with numbers: which ranks, phase, full or fragmented, or a leak
};

/// The next rung. Pure: from the accounts of all ranks, in rank order, every rank takes the same one.
RungDecision next_rung(const LadderState& state, std::span<const MemoryAccount> accounts);

}  // namespace ddpkit
