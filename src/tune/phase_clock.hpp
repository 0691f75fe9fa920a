#pragma once

#include <c10/core/Device.h>

#include <chrono>
#include <memory>
#include <optional>

#include "ddpkit/base/quantity.hpp"
#include "ddpkit/step/step_result.hpp"
#include "ddpkit/tensor/device_utilisation.hpp"
#include "ddpkit/tensor/memory_meter.hpp"
#include "ddpkit/tune/window_reading.hpp"

namespace ddpkit {

/// Reads time and memory of this rank at the edges between the phases of a window. Waits for the device at each, so that work
/// counts where it was asked for.
class PhaseClock {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// Without a meter, as on a CPU whose allocator is not ours, all bytes are 0.
  PhaseClock(c10::Device device, std::optional<Bytes> memory_limit);

  void start_window();
  void batch_is_there();
  void forward_is_done();
  void backward_is_done();

  /// The last backward of the window.
  Time backward_began() const noexcept { return backward_began_; }
  double last_backward_seconds() const noexcept { return last_backward_seconds_; }

  /// Ends the window.
  WindowReading stop(const StepResult& result);

  /// Bytes that this rank may use; 0: not known.
  std::int64_t memory_limit() const;

  /// Gives back what a window that was given up has left in caches.
  void release();

 private:
  void edge(double& seconds);
  double take_peak();

  c10::Device device_;
  std::unique_ptr<MemoryMeter> meter_;
  std::unique_ptr<DeviceUtilisation> utilisation_;  ///< of an accelerator, where something tells it
  Time began_;
  Time window_;
  Time last_;
  Time backward_began_;
  double last_backward_seconds_ = 0;
  WindowReading reading_;
};

}  // namespace ddpkit
