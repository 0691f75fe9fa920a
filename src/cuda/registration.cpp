#include "cuda/registration.hpp"

#include <c10/cuda/CUDAStream.h>

#include "cuda/cuda_graph.hpp"
#include "cuda/update_strips.hpp"
#include "ddpkit/comm/nccl_factory.hpp"
#include "ddpkit/cuda/nccl.hpp"
#include "optim/device_update.hpp"

namespace ddpkit::cuda {
namespace {

void update_on_current_stream(const UpdateRule& rule, DType dtype, std::span<const UpdateStrip> strips, int device) {
  const c10::cuda::CUDAStream stream = c10::cuda::getCurrentCUDAStream(static_cast<c10::DeviceIndex>(device));
  update_strips(rule, dtype, strips, {.type = Device::Type::cuda, .index = device, .stream = stream.stream()});
}

}  // namespace

int register_cuda() noexcept {
  set_nccl_factory(&make_nccl_communicator);
  set_device_update(&update_on_current_stream);
  set_device_graph_factory(&make_cuda_graph);
  return 0;
}

}  // namespace ddpkit::cuda
