#include "cuda/update_strips.hpp"

#include <algorithm>

#include "comm/nccl/api_error.hpp"
#include "comm/nccl/handles.hpp"
#include "cuda/update_kernel.hpp"
#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"
#include "optim/make_element.hpp"

namespace ddpkit::cuda {
namespace {

UpdateLaunch launch_of(std::span<const UpdateStrip> strips) {
  UpdateLaunch launch;
  launch.strip_count = static_cast<int>(strips.size());
  long long chunks = 0;
  for (std::size_t i = 0; i < strips.size(); ++i) {
    const UpdateStrip& strip = strips[i];
    launch.strips[i] = {strip.parameter, strip.gradient, {strip.moments[0], strip.moments[1]}, strip.count};
    launch.first_chunk[i] = static_cast<unsigned>(chunks);
    chunks += (strip.count + UpdateLaunch::kChunk - 1) / UpdateLaunch::kChunk;
  }
  launch.first_chunk[strips.size()] = static_cast<unsigned>(chunks);
  return launch;
}

template <class T, class Rule>
void launch_all(const Rule& rule, std::span<const UpdateStrip> strips, cudaStream_t stream) {
  while (!strips.empty()) {
    const std::size_t count = std::min<std::size_t>(strips.size(), UpdateLaunch::kMostStrips);
    const UpdateLaunch launch = launch_of(strips.first(count));
    if (launch.first_chunk[count] > 0) nccl::check(launch_update<T>(rule, launch, stream), "optimizer update");
    strips = strips.subspan(count);
  }
}

template <class T, class Real>
void update_as(const UpdateRule& rule, std::span<const UpdateStrip> strips, cudaStream_t stream) {
  with_element_rule<Real>(rule, [&](const auto& element) { launch_all<T>(element, strips, stream); });
}

}  // namespace

void update_strips(const UpdateRule& rule, DType dtype, std::span<const UpdateStrip> strips, const Device& device) {
  const nccl::DeviceGuard guard(device.index);
  auto* stream = static_cast<cudaStream_t>(device.stream);
  switch (dtype) {
    case DType::float32: return update_as<float, float>(rule, strips, stream);
    case DType::float64: return update_as<double, double>(rule, strips, stream);
    case DType::float16: return update_as<__half, float>(rule, strips, stream);
    case DType::bfloat16: return update_as<__nv_bfloat16, float>(rule, strips, stream);
    default: throw UsageError(text("an optimizer cannot update ", name_of(dtype), " parameters; only floating point"));
  }
}

}  // namespace ddpkit::cuda
