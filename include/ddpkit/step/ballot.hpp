#pragma once

#include <array>
#include <cstddef>
#include <span>

namespace ddpkit {

/// What ranks tell each other about a window before anyone updates: one fixed record of named slots, summed over the ranks once
/// per window, along with the last bucket. What is to be agreed at step rate is a slot here, never a collective of its own.
class Ballot {
 public:
  enum class Slot : std::size_t {
    loss_not_finite,  ///< ranks on which a loss was not finite
    stop_wanted,      ///< ranks that were told by a signal to save and stop
    finish_wanted,    ///< ranks whose program asked for the end of training
    count,            ///< what the means were taken over: rows, tokens
    rows,             ///< real samples
    loss,             ///< sum of mean x count
    micro_batches,    ///< and the squares of their numbers, by which all ranks see whether they are equal
    micro_batches_squared,
    count_squared,       ///< by which all ranks see whether their counts are equal
    small_squared_norm,  ///< of each rank's own mean gradient, for the noise scale
    data_seconds,        ///< time by section, summed over ranks
    compute_seconds,
    number_of_slots,
  };

  double& operator[](Slot slot) noexcept { return slots_[static_cast<std::size_t>(slot)]; }
  double operator[](Slot slot) const noexcept { return slots_[static_cast<std::size_t>(slot)]; }

  /// The record as it travels.
  std::span<double> record() noexcept { return slots_; }

 private:
  std::array<double, static_cast<std::size_t>(Slot::number_of_slots)> slots_{};
};

}  // namespace ddpkit
