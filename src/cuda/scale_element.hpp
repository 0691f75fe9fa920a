#pragma once

// Seen by the CUDA compiler: C++17 only.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "base/host_device.hpp"

namespace ddpkit::cuda {

/// What scaling does to one element; the same code on the host and on the device.
struct ScaleElement {
  double factor;

  DDPKIT_HOST_DEVICE double operator()(double value) const { return value * factor; }
  DDPKIT_HOST_DEVICE float operator()(float value) const { return value * static_cast<float>(factor); }
  DDPKIT_HOST_DEVICE __half operator()(__half value) const { return __float2half((*this)(__half2float(value))); }
  DDPKIT_HOST_DEVICE __nv_bfloat16 operator()(__nv_bfloat16 value) const {
    return __float2bfloat16((*this)(__bfloat162float(value)));
  }
};

/// The loop of the host.
template <class T>
void scale_on_host(T* data, std::size_t count, ScaleElement scale) {
  for (std::size_t i = 0; i < count; ++i) data[i] = scale(data[i]);
}

}  // namespace ddpkit::cuda
