#include "ddpkit/tensor/memory_meter.hpp"

#include <c10/core/CPUAllocator.h>
#include <c10/core/CachingDeviceAllocator.h>

#include "ddpkit/base/error.hpp"
#include "ddpkit/tensor/cpu_memory.hpp"
#include "support/catch.hpp"

namespace ddpkit {
namespace {

/// Stands for the caching allocator of an accelerator. Registered for a device type that nothing else uses.
class StandInAllocator final : public c10::DeviceAllocator {
 public:
  StandInAllocator() { c10::SetAllocator(c10::DeviceType::PrivateUse1, this, 1); }
  ~StandInAllocator() override { c10::SetAllocator(c10::DeviceType::PrivateUse1, nullptr, 1); }
  StandInAllocator(const StandInAllocator&) = delete;
  StandInAllocator& operator=(const StandInAllocator&) = delete;

  c10::DataPtr allocate(std::size_t) override { return {}; }
  void copy_data(void*, const void*, std::size_t) const override {}
  bool initialized() override { return true; }
  void emptyCache(c10::MempoolId_t) override { ++emptied; }
  void recordStream(const c10::DataPtr&, c10::Stream) override {}
  c10::CachingDeviceAllocator::DeviceStats getDeviceStats(c10::DeviceIndex device) override {
    c10::CachingDeviceAllocator::DeviceStats stats;
    stats.allocated_bytes[0].current = 100 + device;
    stats.allocated_bytes[0].peak = 300;
    stats.reserved_bytes[0].current = 500;
    return stats;
  }
  void resetAccumulatedStats(c10::DeviceIndex) override {}
  void resetPeakStats(c10::DeviceIndex device) override { reset_on = device; }
  std::pair<std::size_t, std::size_t> getMemoryInfo(c10::DeviceIndex) override { return {700, 2000}; }

  int emptied = 0;
  int reset_on = -1;
};

TEST_CASE("an accelerator's meter reads its caching allocator") {
  const StandInAllocator allocator;
  const auto reading = make_memory_meter({c10::DeviceType::PrivateUse1, 2})->read();
  CHECK(reading.live == 102);
  CHECK(reading.peak == 300);
  CHECK(reading.reserved == 500);
}

TEST_CASE("a CPU's meter tells how much was wanted when an allocation was refused, until it is reset") {
  install_cpu_memory();
  const auto meter = make_memory_meter(c10::kCPU);
  meter->reset_peak();
  const std::int64_t live = meter->read().live;
  CHECK(meter->read().wanted == 0);
  limit_cpu_memory({live + 1000});
  CHECK_THROWS_AS(c10::GetCPUAllocator()->allocate(5000), c10::OutOfMemoryError);
  limit_cpu_memory({0});
  CHECK(meter->read().wanted == live + 5000);
  meter->reset_peak();
  CHECK(meter->read().wanted == 0);
}

TEST_CASE("an accelerator's limit is what it has reserved and what is free, without what others took") {
  const StandInAllocator allocator;
  CHECK(make_memory_meter({c10::DeviceType::PrivateUse1, 0})->read().limit == 1200);
}

TEST_CASE("a limit that was set for an accelerator holds where it is the smaller") {
  const StandInAllocator allocator;
  const c10::Device device(c10::DeviceType::PrivateUse1, 0);
  CHECK(make_memory_meter(device, Bytes{800})->read().limit == 800);
  CHECK(make_memory_meter(device, Bytes{5000})->read().limit == 1200);
}

TEST_CASE("an accelerator's peak is reset and its cache released on the device of the meter") {
  StandInAllocator allocator;
  const auto meter = make_memory_meter({c10::DeviceType::PrivateUse1, 1});
  meter->reset_peak();
  meter->release_cache();
  CHECK(allocator.reset_on == 1);
  CHECK(allocator.emptied == 1);
}

TEST_CASE("a device whose allocator has no statistics has no meter") {
  CHECK_THROWS_AS(make_memory_meter({c10::DeviceType::PrivateUse1, 0}), UsageError);
}

}  // namespace
}  // namespace ddpkit
