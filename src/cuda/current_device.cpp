#include "ddpkit/cuda/current_device.hpp"

#include <c10/cuda/CUDAStream.h>

namespace ddpkit {

Device current_cuda_device() {
  const c10::cuda::CUDAStream stream = c10::cuda::getCurrentCUDAStream();
  return {.type = Device::Type::cuda, .index = stream.device_index(), .stream = stream.stream()};
}

}  // namespace ddpkit
