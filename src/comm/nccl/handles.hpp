#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <type_traits>

namespace ddpkit::nccl {

struct EventDeleter {
  void operator()(cudaEvent_t event) const noexcept { cudaEventDestroy(event); }
};
struct StreamDeleter {
  void operator()(cudaStream_t stream) const noexcept { cudaStreamDestroy(stream); }
};
struct DeviceBytesDeleter {
  void operator()(std::byte* bytes) const noexcept { cudaFree(bytes); }
};

using Event = std::unique_ptr<std::remove_pointer_t<cudaEvent_t>, EventDeleter>;
using Stream = std::unique_ptr<std::remove_pointer_t<cudaStream_t>, StreamDeleter>;
using DeviceBytes = std::unique_ptr<std::byte, DeviceBytesDeleter>;

/// An event that only orders; timing would cost a write to memory each.
Event make_event();

/// A stream of the current device that the scheduler prefers, so that a collective need not wait for the whole backward.
Stream make_urgent_stream();

DeviceBytes make_device_bytes(std::size_t bytes);

/// Makes `device` the thread's current one, and the former one again at the end of the scope. Does not throw at the end.
class DeviceGuard {
 public:
  explicit DeviceGuard(int device);
  ~DeviceGuard();
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

 private:
  int device_;
  int former_ = 0;
};

}  // namespace ddpkit::nccl
