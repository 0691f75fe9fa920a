#include "cuda/registration.hpp"

#include "ddpkit/comm/nccl_factory.hpp"
#include "ddpkit/cuda/nccl.hpp"

namespace ddpkit::cuda {

int register_nccl() noexcept {
  set_nccl_factory(&make_nccl_communicator);
  return 0;
}

}  // namespace ddpkit::cuda
