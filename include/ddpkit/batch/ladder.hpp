#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace ddpkit {

/// Where in a window memory ran out.
enum class MemoryPhase { none, batch, forward, backward, metrics, optimizer };

constexpr auto enum_names(MemoryPhase) {
  return std::to_array<std::pair<MemoryPhase, std::string_view>>({{MemoryPhase::none, "none"},
                                                                  {MemoryPhase::batch, "fetching a batch"},
                                                                  {MemoryPhase::forward, "forward"},
                                                                  {MemoryPhase::backward, "backward"},
                                                                  {MemoryPhase::metrics, "the metrics"},
                                                                  {MemoryPhase::optimizer, "making the optimizer's state"}});
}

/// What one rank tells of a window that was given up.
struct MemoryAccount {
  MemoryPhase phase = MemoryPhase::none;  ///< none: this rank had enough
  std::int64_t live = 0;                  ///< bytes once the window was given up
  std::int64_t peak = 0;                  ///< most of them in the window
  std::int64_t reserved = 0;
  std::int64_t limit = 0;   ///< 0: unknown
  std::int64_t wanted = 0;  ///< most that would have been live, with the allocation that was refused; 0: unknown
  std::int64_t growth = 0;  ///< bytes by which live memory after a step has grown, step for step, over the last windows: a leak
};

/// What can be done, in this order.
enum class Rung { release_cache, bf16, recompute, halve_micro, end };

constexpr auto enum_names(Rung) {
  return std::to_array<std::pair<Rung, std::string_view>>({{Rung::release_cache, "release_cache"},
                                                           {Rung::bf16, "bf16"},
                                                           {Rung::recompute, "recompute"},
                                                           {Rung::halve_micro, "halve_micro"},
                                                           {Rung::end, "end"}});
}

/// What has been done so far. Equal on all ranks.
struct LadderState {
  /// Most rungs for one window: enough to divide a micro-batch by 128 after everything else.
  static constexpr std::int64_t kMostRungs = 10;

  std::int64_t micro = 1;
  std::int64_t local_batch = 1;  ///< rows of a rank in the window: micro-batches that divide it are all of one size
  std::int64_t rungs_in_window = 0;
  bool may_climb = true;        ///< false: the first shortage is the end
  bool cache_released = false;  ///< in this window
  bool bf16_left = false;       ///< allowed, and not on yet
  bool recompute_left = false;
};

struct RungDecision {
  Rung rung = Rung::end;
  std::int64_t micro = 1;  ///< from here on
  std::string reason{};    ///< in words, with numbers: which ranks, phase, full or fragmented, or a leak
};

/// The next rung. Pure: from the accounts of all ranks, in rank order, every rank takes the same one.
///
/// A leak comes first, and is the end: growth by at least 1 % of the limit, which no rung would stop. Then cached blocks are
/// released, once a window, unless every rank that failed is plainly full (it wanted more than a known limit, or was at 90 % of
/// it, and less than 5 % of it is cached and unused). Then what is allowed and not on yet, then halving. After kMostRungs in
/// one window, or below a micro-batch of 1, it ends.
RungDecision next_rung(const LadderState& state, std::span<const MemoryAccount> accounts);

/// About half of `micro`: the largest divisor of `local_batch` between a third of it and its half rounded up, or else its half
/// rounded down. At least 1. A micro-batch larger than the local batch counts as one of that size.
std::int64_t halved_micro(std::int64_t micro, std::int64_t local_batch);

}  // namespace ddpkit
