#pragma once

#include <nccl.h>

#include "ddpkit/base/dtype.hpp"
#include "ddpkit/comm/communicator.hpp"

namespace ddpkit::nccl {

ncclDataType_t to_nccl(DType type);
ncclRedOp_t to_nccl(ReduceOp op);

}  // namespace ddpkit::nccl
