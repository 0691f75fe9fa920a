#pragma once

#include <signal.h>

namespace ddpkit {

/// While it lives, SIGTERM and SIGUSR1 do not end the process but set a flag, which the training loop brings to all ranks with
/// the next ballot. A second signal, a second later or more, ends the process at once. One at a time per process; earlier
/// handlers come back after it.
class StopSignal {
 public:
  StopSignal();
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  bool requested() const noexcept;

 private:
  struct sigaction term_before_ = {};
  struct sigaction usr1_before_ = {};
};

}  // namespace ddpkit
