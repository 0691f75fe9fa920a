#pragma once

// For the one file of a program that defines launch_update, after its definition. Seen by the CUDA compiler: C++17 only.

#include "cuda/update_kernel.hpp"

namespace ddpkit::cuda {

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
