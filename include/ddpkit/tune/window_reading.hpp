#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace ddpkit {

/// What one rank saw of one window. Doubles alone, since it travels between ranks as numbers; bytes are exact up to 2^53.
struct WindowReading {
  double data_seconds = 0;      ///< waiting for batches
  double forward_seconds = 0;   ///< of all micro-batches of the window
  double backward_seconds = 0;  ///< likewise, with the communication that overlaps it
  double reduce_seconds = 0;    ///< waiting for gradients after backward
  double update_seconds = 0;    ///< norm, clip, optimizer
  double total_seconds = 0;     ///< the whole window
  double forward_peak = 0;      ///< bytes; 0: not known, like the others
  double backward_peak = 0;
  double optimizer_peak = 0;
  double live = 0;  ///< bytes after the window
  double limit = 0;
  double device_busy = -1;     ///< part of the time in which an accelerator worked; negative: not known, as on a CPU
  double elapsed_seconds = 0;  ///< since measuring began

  double peak() const noexcept { return std::max({forward_peak, backward_peak, optimizer_peak}); }
};

/// What became of one window on all ranks. Equal on all ranks.
struct WindowOutcome {
  enum class End {
    measured,
    not_finite,     ///< measured, but the update was left out: a loss or a gradient was not finite
    out_of_memory,  ///< given up, since a rank had no memory left
  };

  End end = End::measured;
  std::vector<WindowReading> ranks;  ///< in rank order
  std::string account;               ///< out_of_memory: which rank failed, where and with what
};

}  // namespace ddpkit
