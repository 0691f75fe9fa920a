#include "comm/nccl/handles.hpp"

#include "comm/nccl/api_error.hpp"

namespace ddpkit::nccl {

Event make_event() {
  cudaEvent_t event = nullptr;
  check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreateWithFlags");
  return Event(event);
}

Stream make_urgent_stream() {
  int least = 0;
  int greatest = 0;
  check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "cudaDeviceGetStreamPriorityRange");
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest), "cudaStreamCreateWithPriority");
  return Stream(stream);
}

DeviceBytes make_device_bytes(std::size_t bytes) {
  void* data = nullptr;
  check(cudaMalloc(&data, bytes), "cudaMalloc");
  return DeviceBytes(static_cast<std::byte*>(data));
}

DeviceGuard::DeviceGuard(int device) : device_(device) {
  check(cudaGetDevice(&former_), "cudaGetDevice");
  if (former_ != device_) check(cudaSetDevice(device_), "cudaSetDevice");
}

DeviceGuard::~DeviceGuard() {
  if (former_ != device_) cudaSetDevice(former_);
}

}  // namespace ddpkit::nccl
