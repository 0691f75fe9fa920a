#pragma once

#include <c10/core/Device.h>

#include <span>

#include "optim/update_rule.hpp"

namespace ddpkit {

/// How elements in a CUDA device's memory are updated, all of one type: asynchronously, on the device's current stream.
using DeviceUpdate = void (*)(const UpdateRule& rule, DType dtype, std::span<const UpdateStrip> strips, int device);

/// Called before main by ddpkit::cuda where that is linked.
void set_device_update(DeviceUpdate update) noexcept;

/// Throws UsageError where nobody knows how.
void update_on_device(const UpdateRule& rule, DType dtype, std::span<const UpdateStrip> strips, c10::Device device);

}  // namespace ddpkit
