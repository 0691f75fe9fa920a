#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <optional>

#include "ddpkit/base/quantity.hpp"

namespace ddpkit {

/// Bytes that could still be taken from a device: for the CPU as available_memory() says, shared by all processes of the node.
/// Nothing where the device does not tell. Not collective.
std::optional<std::int64_t> free_memory(c10::Device device);

/// Tensors of this process on the device get no more than that. On the CPU it holds from here on (limit_cpu_memory). On an
/// accelerator it is given to LibTorch's caching allocator as the setting `per_process_memory_fraction`, beside those of
/// PYTORCH_CUDA_ALLOC_CONF; call it before the device is first used.
void limit_memory(c10::Device device, Bytes limit);

}  // namespace ddpkit
