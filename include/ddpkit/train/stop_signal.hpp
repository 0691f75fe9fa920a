#pragma once

namespace ddpkit {

/// While it lives, SIGTERM and SIGUSR1 do not end the process but set a flag, which the training loop brings to all ranks with
/// the next ballot. A second signal ends the process at once. One at a time per process.
class StopSignal {
 public:
  StopSignal();
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  bool requested() const noexcept;
};

}  // namespace ddpkit
