#pragma once

#include <cuda_runtime_api.h>
#include <nccl.h>

#include <string>
#include <string_view>

#include "ddpkit/base/exit_status.hpp"

namespace ddpkit::nccl {

/// "cudaEventRecord failed: no kernel image ... (cudaErrorNoKernelImage)". Clears CUDA's last error, so that LibTorch's next
/// check does not report it again.
std::string describe(cudaError_t error, std::string_view call);

/// "ncclAllReduce failed: remote process exited (...)", with NCCL's own last words about `comm` where it has any.
std::string describe(ncclResult_t result, std::string_view call, ncclComm_t comm);

/// What the job ends with: a lost peer, or a bug for what only a wrong call can cause.
ExitStatus status_of(ncclResult_t result);

/// Throws CommError that names the call, unless it succeeded.
void check(cudaError_t error, std::string_view call);
void check(ncclResult_t result, std::string_view call);

}  // namespace ddpkit::nccl
