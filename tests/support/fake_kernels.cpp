// Our kernels on the host: the same element functor in a loop.
#include "cuda/scale_element.hpp"
#include "cuda/scale_kernel.hpp"
#include "cuda/update_element.hpp"
#include "cuda/update_kernel.hpp"

namespace ddpkit::cuda {
namespace {
template <class T>
cudaError_t run(T* data, std::size_t count, double factor) {
  scale_on_host(data, count, ScaleElement{factor});
  return cudaSuccess;
}
}  // namespace

cudaError_t launch_scale(float* data, std::size_t count, double factor, cudaStream_t) {
  return run(data, count, factor);
}
cudaError_t launch_scale(double* data, std::size_t count, double factor, cudaStream_t) {
  return run(data, count, factor);
}
cudaError_t launch_scale(__half* data, std::size_t count, double factor, cudaStream_t) {
  return run(data, count, factor);
}
cudaError_t launch_scale(__nv_bfloat16* data, std::size_t count, double factor, cudaStream_t) {
  return run(data, count, factor);
}

template <class T, class Rule>
cudaError_t launch_update(const Rule& rule, const UpdateLaunch& launch, cudaStream_t) {
  for (int strip = 0; strip < launch.strip_count; ++strip)
    for (long long i = 0; i < launch.strips[strip].count; ++i) {
      UpdatedElement<T, Rule> element;
      element.read(launch.strips[strip], i);
      element.write(rule, launch.strips[strip], i);
    }
  return cudaSuccess;
}

}  // namespace ddpkit::cuda

#include "cuda/update_instances.hpp"
