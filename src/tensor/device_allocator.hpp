#pragma once

#include <c10/core/CachingDeviceAllocator.h>

namespace ddpkit {

/// The caching allocator of an accelerator. Throws UsageError for a device whose allocator has no statistics.
c10::DeviceAllocator& device_allocator(c10::Device device);

}  // namespace ddpkit
