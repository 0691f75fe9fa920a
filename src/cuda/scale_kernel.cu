#include <algorithm>

#include "cuda/scale_element.hpp"
#include "cuda/scale_kernel.hpp"

namespace ddpkit::cuda {
namespace {

constexpr unsigned kThreads = 256;
constexpr std::size_t kMostBlocks = 2048;  // beyond it each thread takes several elements

template <class T>
__global__ void scale_all(T* data, std::size_t count, ScaleElement scale) {
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += stride)
    data[i] = scale(data[i]);
}

template <class T>
cudaError_t launch(T* data, std::size_t count, double factor, cudaStream_t stream) {
  const std::size_t blocks = std::min((count + kThreads - 1) / kThreads, kMostBlocks);
  scale_all<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(data, count, ScaleElement{factor});
  return cudaGetLastError();
}

}  // namespace

cudaError_t launch_scale(float* data, std::size_t count, double factor, cudaStream_t stream) {
  return launch(data, count, factor, stream);
}

cudaError_t launch_scale(double* data, std::size_t count, double factor, cudaStream_t stream) {
  return launch(data, count, factor, stream);
}

cudaError_t launch_scale(__half* data, std::size_t count, double factor, cudaStream_t stream) {
  return launch(data, count, factor, stream);
}

cudaError_t launch_scale(__nv_bfloat16* data, std::size_t count, double factor, cudaStream_t stream) {
  return launch(data, count, factor, stream);
}

}  // namespace ddpkit::cuda
