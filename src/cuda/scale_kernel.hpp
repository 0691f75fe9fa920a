#pragma once

// Seen by the CUDA compiler: C++17 only.

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime_api.h>

#include <cstddef>

namespace ddpkit::cuda {

/// Scales `count` > 0 elements on the device, on `stream` of the current device. Asynchronous.
cudaError_t launch_scale(float* data, std::size_t count, double factor, cudaStream_t stream);
cudaError_t launch_scale(double* data, std::size_t count, double factor, cudaStream_t stream);
cudaError_t launch_scale(__half* data, std::size_t count, double factor, cudaStream_t stream);
cudaError_t launch_scale(__nv_bfloat16* data, std::size_t count, double factor, cudaStream_t stream);

}  // namespace ddpkit::cuda
