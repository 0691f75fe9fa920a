// Compiled without fused multiply-adds (cmake/DdpkitCuda.cmake), so that the bits are those of the host's loop.
#include "cuda/update_element.hpp"
#include "cuda/update_kernel.hpp"

namespace ddpkit::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kUnderWay = 4;  // elements per thread at a time: enough reads in flight to fill the memory's queue

/// Index of the strip that a chunk belongs to.
__device__ int strip_of(const UpdateLaunch& launch, unsigned chunk) {
  int low = 0, high = launch.strip_count - 1;
  while (low < high) {
    const int middle = (low + high + 1) / 2;
    if (launch.first_chunk[middle] <= chunk)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

template <class T, class Rule>
__global__ void __launch_bounds__(kThreads) update_chunks(const Rule rule, const __grid_constant__ UpdateLaunch launch) {
  const int index = strip_of(launch, blockIdx.x);
  const LaunchedStrip strip = launch.strips[index];
  const long long begin = (blockIdx.x - launch.first_chunk[index]) * UpdateLaunch::kChunk;
  const long long end = begin + UpdateLaunch::kChunk < strip.count ? begin + UpdateLaunch::kChunk : strip.count;
  for (long long i = begin + threadIdx.x; i < end; i += kThreads * kUnderWay) {
    UpdatedElement<T, Rule> elements[kUnderWay];
#pragma unroll
    for (int k = 0; k < kUnderWay; ++k)
      if (i + k * kThreads < end) elements[k].read(strip, i + k * kThreads);
#pragma unroll
    for (int k = 0; k < kUnderWay; ++k)
      if (i + k * kThreads < end) elements[k].write(rule, strip, i + k * kThreads);
  }
}

}  // namespace

template <class T, class Rule>
cudaError_t launch_update(const Rule& rule, const UpdateLaunch& launch, cudaStream_t stream) {
  update_chunks<T><<<launch.first_chunk[launch.strip_count], kThreads, 0, stream>>>(rule, launch);
  return cudaGetLastError();
}

}  // namespace ddpkit::cuda

#include "cuda/update_instances.hpp"
