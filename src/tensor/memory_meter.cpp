#include "ddpkit/tensor/memory_meter.hpp"

#include <malloc.h>

#include <algorithm>
#include <limits>

#include "ddpkit/base/error.hpp"
#include "ddpkit/tensor/cpu_memory.hpp"
#include "tensor/cpu_memory_counts.hpp"
#include "tensor/device_allocator.hpp"

namespace ddpkit {
namespace {

class CpuMemoryMeter final : public MemoryMeter {
 public:
  MemoryReading read() const override {
    const std::int64_t live = counts_.live, limit = counts_.limit;
    return {.live = live, .peak = counts_.peak, .reserved = live, .limit = limit, .wanted = counts_.wanted};
  }
  void reset_peak() override {
    counts_.peak = counts_.live.load();
    counts_.wanted = 0;
  }
  void release_cache() override { malloc_trim(0); }

 private:
  CpuMemoryCounts& counts_ = cpu_memory_counts();
};

class DeviceMemoryMeter final : public MemoryMeter {
 public:
  DeviceMemoryMeter(c10::DeviceAllocator& allocator, c10::DeviceIndex device, std::int64_t limit)
      : allocator_(allocator), device_(device), limit_(limit) {}

  MemoryReading read() const override {
    constexpr auto kAll = static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE);
    const auto stats = allocator_.getDeviceStats(device_);
    const std::size_t free = allocator_.getMemoryInfo(device_).first;
    const auto& live = stats.allocated_bytes.at(kAll);
    const std::int64_t reserved = stats.reserved_bytes.at(kAll).current;
    // Others may hold part of the device, so its size is not the bound.
    return {.live = live.current,
            .peak = live.peak,
            .reserved = reserved,
            .limit = std::min(reserved + static_cast<std::int64_t>(free), limit_)};
  }
  void reset_peak() override { allocator_.resetPeakStats(device_); }
  void release_cache() override { allocator_.emptyCache(); }

 private:
  c10::DeviceAllocator& allocator_;
  c10::DeviceIndex device_;
  std::int64_t limit_;
};

}  // namespace

std::unique_ptr<MemoryMeter> make_memory_meter(c10::Device device, std::optional<Bytes> limit) {
  if (device.is_cpu()) {
    if (!cpu_memory_installed())
      throw UsageError("make_memory_meter: LibTorch's own allocator counts nothing; call install_cpu_memory() first in main");
    return std::make_unique<CpuMemoryMeter>();
  }
  return std::make_unique<DeviceMemoryMeter>(device_allocator(device), std::max<c10::DeviceIndex>(device.index(), 0),
                                             limit ? limit->count : std::numeric_limits<std::int64_t>::max());
}

}  // namespace ddpkit
