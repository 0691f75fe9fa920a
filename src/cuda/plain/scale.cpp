#include "ddpkit/cuda/scale.hpp"

#include "comm/nccl/api_error.hpp"
#include "comm/nccl/handles.hpp"
#include "cuda/scale_element.hpp"
#include "cuda/scale_kernel.hpp"
#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit {
namespace {

template <class T>
void scale_elements(const Buffer& data, double factor) {
  auto* elements = static_cast<T*>(data.data);
  if (data.device.type == Device::Type::cpu) return cuda::scale_on_host(elements, data.count, cuda::ScaleElement{factor});
  const nccl::DeviceGuard guard(data.device.index);
  nccl::check(cuda::launch_scale(elements, data.count, factor, static_cast<cudaStream_t>(data.device.stream)), "scale");
}

}  // namespace

void scale(const Buffer& data, double factor) {
  if (data.count == 0) return;
  switch (data.dtype) {
    case DType::float32: return scale_elements<float>(data, factor);
    case DType::float64: return scale_elements<double>(data, factor);
    case DType::float16: return scale_elements<__half>(data, factor);
    case DType::bfloat16: return scale_elements<__nv_bfloat16>(data, factor);
    default: throw UsageError(text("scale: ", name_of(data.dtype), " would be cut off; only floating point can be scaled"));
  }
}

}  // namespace ddpkit
