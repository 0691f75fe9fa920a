#include "tensor/device_allocator.hpp"

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit {

c10::DeviceAllocator& device_allocator(c10::Device device) {
  auto* const allocator = dynamic_cast<c10::DeviceAllocator*>(c10::GetAllocator(device.type()));
  if (allocator == nullptr) throw UsageError(text("the allocator of ", device.str(), " has no statistics of its memory"));
  return *allocator;
}

}  // namespace ddpkit
