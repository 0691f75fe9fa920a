#include "comm/nccl/control_rendezvous.hpp"

#include "ddpkit/comm/agree.hpp"

namespace ddpkit::nccl {

std::vector<std::string> ControlRendezvous::meet(const std::string& mine) {
  return gather_texts(control_, mine);
}

}  // namespace ddpkit::nccl
