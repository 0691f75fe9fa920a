#pragma once

// Seen by the CUDA compiler: C++17 only.

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime_api.h>

#include "cuda/update_launch.hpp"
#include "optim/element_rules.hpp"

namespace ddpkit::cuda {

/// Applies `rule` to every element of every strip, on `stream` of the current device. Asynchronous. At least one chunk. For
/// float, double, __half and __nv_bfloat16, each with the three rules in the type it is computed in.
template <class T, class Rule>
cudaError_t launch_update(const Rule& rule, const UpdateLaunch& launch, cudaStream_t stream);

}  // namespace ddpkit::cuda
