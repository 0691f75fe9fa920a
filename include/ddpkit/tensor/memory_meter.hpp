#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "ddpkit/base/quantity.hpp"

namespace ddpkit {

/// What this process's tensors take on one device, in bytes.
struct MemoryReading {
  std::int64_t live = 0;      ///< held by tensors now
  std::int64_t peak = 0;      ///< most that was live since the last reset
  std::int64_t reserved = 0;  ///< taken from the device, cached blocks included; a CPU has no cache: equal to `live`
  std::int64_t limit = 0;     ///< allocations beyond it are refused; 0: none known
  std::int64_t wanted = 0;    ///< most that would have been live had nothing been refused since the last reset; 0: not known
};

/// Reads the allocator that serves a device. Not collective. Thread-safe as far as the allocator is.
class MemoryMeter {
 public:
  virtual ~MemoryMeter() = default;
  virtual MemoryReading read() const = 0;
  virtual void reset_peak() = 0;

  /// Gives cached blocks back, on a CPU to the operating system. May wait for the device.
  virtual void release_cache() = 0;
};

/// For the CPU what the allocator of tensor/cpu_memory.hpp counts, for an accelerator its caching allocator's statistics.
/// `limit`: what was set as `memory.limit`; the CPU's allocator knows its own. Throws UsageError for the CPU when that
/// allocator is not installed, and for a device whose allocator has no statistics.
std::unique_ptr<MemoryMeter> make_memory_meter(c10::Device device, std::optional<Bytes> limit = {});

}  // namespace ddpkit
