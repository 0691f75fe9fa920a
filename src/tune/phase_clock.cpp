#include "tune/phase_clock.hpp"

#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "ddpkit/tensor/cpu_memory.hpp"

namespace ddpkit {
namespace {

using SteadyClock = std::chrono::steady_clock;

double seconds_between(SteadyClock::time_point from, SteadyClock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

void wait_for(c10::Device device) {
  if (!device.is_cpu()) c10::impl::VirtualGuardImpl(device.type()).synchronizeDevice(device.index());
}

std::string_view visible_devices() {
  const char* const value = std::getenv("CUDA_VISIBLE_DEVICES");
  return value == nullptr ? "" : value;
}

}  // namespace

PhaseClock::PhaseClock(c10::Device device, std::optional<Bytes> memory_limit) : device_(device), began_(SteadyClock::now()) {
  if (!device.is_cpu() || cpu_memory_installed()) meter_ = make_memory_meter(device, memory_limit);
  if (!device.is_cpu()) utilisation_ = DeviceUtilisation::open(nvml_name(device.index(), visible_devices()));
}

void PhaseClock::start_window() {
  reading_ = {};
  wait_for(device_);
  if (meter_) meter_->reset_peak();
  window_ = last_ = SteadyClock::now();
}

void PhaseClock::batch_is_there() {
  edge(reading_.data_seconds);
}

void PhaseClock::forward_is_done() {
  edge(reading_.forward_seconds);
  reading_.forward_peak = std::max(reading_.forward_peak, take_peak());
  backward_began_ = last_;
}

void PhaseClock::backward_is_done() {
  edge(reading_.backward_seconds);
  last_backward_seconds_ = seconds_between(backward_began_, last_);
  reading_.backward_peak = std::max(reading_.backward_peak, take_peak());
}

WindowReading PhaseClock::stop(const StepResult& result) {
  wait_for(device_);
  const Time now = SteadyClock::now();
  reading_.reduce_seconds = result.reduce_seconds;
  reading_.update_seconds = std::max(0.0, seconds_between(last_, now) - result.reduce_seconds);
  reading_.total_seconds = seconds_between(window_, now);
  reading_.optimizer_peak = take_peak();
  if (utilisation_) reading_.device_busy = utilisation_->read().value_or(-1);
  reading_.elapsed_seconds = seconds_between(began_, now);
  if (meter_) {
    const MemoryReading memory = meter_->read();
    reading_.live = static_cast<double>(memory.live);
    reading_.limit = static_cast<double>(memory.limit);
  }
  return reading_;
}

std::int64_t PhaseClock::memory_limit() const {
  return meter_ ? meter_->read().limit : 0;
}

void PhaseClock::release() {
  if (meter_) meter_->release_cache();
}

/// The time since the last edge belongs to `seconds`.
void PhaseClock::edge(double& seconds) {
  wait_for(device_);
  const Time now = SteadyClock::now();
  seconds += seconds_between(last_, now);
  last_ = now;
}

double PhaseClock::take_peak() {
  if (!meter_) return 0;
  const auto peak = static_cast<double>(meter_->read().peak);
  meter_->reset_peak();
  return peak;
}

}  // namespace ddpkit
