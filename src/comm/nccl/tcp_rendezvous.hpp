#pragma once

#include <chrono>

#include "comm/nccl/rendezvous.hpp"
#include "comm/nccl/socket.hpp"

namespace ddpkit::nccl {

/// Through TCP: rank 0 listens, the others come, each gets everybody's text. Strangers who talk something else are shown out.
class TcpRendezvous final : public Rendezvous {
 public:
  struct Options {
    Address address;  ///< where rank 0 listens; all ranks give the same
    int rank = 0;
    int world_size = 1;
    std::chrono::milliseconds timeout{0};
  };

  /// Rank 0 listens from here on. Throws CommError when it cannot.
  explicit TcpRendezvous(Options options);

  int rank() const override { return options_.rank; }
  int world_size() const override { return options_.world_size; }
  std::vector<std::string> meet(const std::string& mine) override;

  /// Where rank 0 listens, also when the address asked for any free port.
  int port() const { return listener_.port(); }

 private:
  class Reception;
  std::vector<std::string> visit(const std::string& mine);

  Options options_;
  Socket listener_;
};

}  // namespace ddpkit::nccl
