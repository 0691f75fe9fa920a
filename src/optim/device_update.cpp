#include "optim/device_update.hpp"

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit {
namespace {

constinit DeviceUpdate linked_update = nullptr;

}  // namespace

void set_device_update(DeviceUpdate update) noexcept {
  linked_update = update;
}

void update_on_device(const UpdateRule& rule, DType dtype, std::span<const UpdateStrip> strips, c10::Device device) {
  if (!device.is_cuda())
    throw UsageError(text("parameters on ", device.str(), " cannot be updated; only cpu and cuda are known"));
  if (!linked_update) throw UsageError("parameters on a CUDA device need a program that links ddpkit::cuda");
  linked_update(rule, dtype, strips, device.index());
}

}  // namespace ddpkit
