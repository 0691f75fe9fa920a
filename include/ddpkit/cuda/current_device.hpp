#pragma once

#include "ddpkit/comm/device.hpp"

namespace ddpkit {

/// The calling thread's current CUDA device and LibTorch's current stream on it.
Device current_cuda_device();

}  // namespace ddpkit
