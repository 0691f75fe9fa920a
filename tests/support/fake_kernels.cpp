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

template cudaError_t launch_update<float>(const SgdElement<float>&, const UpdateLaunch&, cudaStream_t);
template cudaError_t launch_update<float>(const MomentumElement<float>&, const UpdateLaunch&, cudaStream_t);
template cudaError_t launch_update<float>(const AdamElement<float>&, const UpdateLaunch&, cudaStream_t);
template cudaError_t launch_update<double>(const SgdElement<double>&, const UpdateLaunch&, cudaStream_t);
template cudaError_t launch_update<double>(const MomentumElement<double>&, const UpdateLaunch&, cudaStream_t);
template cudaError_t launch_update<double>(const AdamElement<double>&, const UpdateLaunch&, cudaStream_t);
template cudaError_t launch_update<__half>(const SgdElement<float>&, const UpdateLaunch&, cudaStream_t);
template cudaError_t launch_update<__half>(const MomentumElement<float>&, const UpdateLaunch&, cudaStream_t);
template cudaError_t launch_update<__half>(const AdamElement<float>&, const UpdateLaunch&, cudaStream_t);
template cudaError_t launch_update<__nv_bfloat16>(const SgdElement<float>&, const UpdateLaunch&, cudaStream_t);
template cudaError_t launch_update<__nv_bfloat16>(const MomentumElement<float>&, const UpdateLaunch&, cudaStream_t);
template cudaError_t launch_update<__nv_bfloat16>(const AdamElement<float>&, const UpdateLaunch&, cudaStream_t);

}  // namespace ddpkit::cuda
