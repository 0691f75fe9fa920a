#include "ddpkit/tensor/memory_limit.hpp"

#include <c10/core/AllocatorConfig.h>

#include <algorithm>

#include "ddpkit/base/available_memory.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/tensor/cpu_memory.hpp"
#include "tensor/device_allocator.hpp"

namespace ddpkit {

std::optional<std::int64_t> free_memory(c10::Device device) {
  if (device.is_cpu()) return available_memory();
  return static_cast<std::int64_t>(device_allocator(device).getMemoryInfo(device.index()).first);
}

void limit_memory(c10::Device device, Bytes limit) {
  if (device.is_cpu()) return limit_cpu_memory(limit);
  const auto total = static_cast<double>(device_allocator(device).getMemoryInfo(device.index()).second);
  const std::string before = c10::CachingAllocator::getAllocatorSettings();
  const double fraction = std::min(static_cast<double>(limit.count) / total, 1.0);
  c10::CachingAllocator::setAllocatorSettings(
      text(before, before.empty() ? "" : ",", "per_process_memory_fraction:", std::fixed, fraction));
}

}  // namespace ddpkit
