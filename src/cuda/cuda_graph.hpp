#pragma once

#include <memory>

#include "ddpkit/tensor/device_graph.hpp"

namespace ddpkit::cuda {

/// A CUDA graph of LibTorch's. What is random in it draws on from the generator's seed at each replay.
std::unique_ptr<DeviceGraph> make_cuda_graph();

}  // namespace ddpkit::cuda
