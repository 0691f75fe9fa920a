#include "comm/nccl/api_error.hpp"

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit::nccl {

std::string describe(cudaError_t error, std::string_view call) {
  cudaGetLastError();
  return text(call, " failed: ", cudaGetErrorString(error), " (", cudaGetErrorName(error), ")");
}

std::string describe(ncclResult_t result, std::string_view call, ncclComm_t comm) {
  const char* last_words = comm != nullptr ? ncclGetLastError(comm) : nullptr;
  const bool silent = last_words == nullptr || *last_words == '\0';
  return text(call, " failed: ", ncclGetErrorString(result), silent ? "" : "; NCCL says: ", silent ? "" : last_words);
}

ExitStatus status_of(ncclResult_t result) {
  const bool wrong_call = result == ncclInvalidArgument || result == ncclInvalidUsage || result == ncclInternalError;
  return wrong_call ? ExitStatus::internal : ExitStatus::peer_lost;
}

void check(cudaError_t error, std::string_view call) {
  if (error != cudaSuccess) throw CommError(describe(error, call), ExitStatus::internal);
}

void check(ncclResult_t result, std::string_view call) {
  if (result != ncclSuccess) throw CommError(describe(result, call, nullptr), status_of(result));
}

}  // namespace ddpkit::nccl
