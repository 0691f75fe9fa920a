#pragma once

#include "comm/nccl/rendezvous.hpp"
#include "ddpkit/comm/communicator.hpp"

namespace ddpkit::nccl {

/// Through a communicator for host data, which must outlive it.
class ControlRendezvous final : public Rendezvous {
 public:
  explicit ControlRendezvous(Communicator& control) : control_(control) {}
  int rank() const override { return control_.rank(); }
  int world_size() const override { return control_.world_size(); }
  std::vector<std::string> meet(const std::string& mine) override;

 private:
  Communicator& control_;
};

}  // namespace ddpkit::nccl
