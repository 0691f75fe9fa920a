#pragma once

#include <cstdint>

#include "ddpkit/comm/communicator.hpp"

namespace ddpkit {

/// One rank. Every operation is done when it returns.
class LocalCommunicator final : public Communicator {
 public:
  LocalCommunicator();

  std::string_view backend() const noexcept override { return "local"; }

 private:
  Memory do_allocate(std::size_t bytes) override;
  Work do_all_reduce(Buffer data, ReduceOp op, std::string_view tag) override;
  Work do_reduce_scatter(ConstBuffer in, Buffer out, ReduceOp op, std::string_view tag) override;
  Work do_all_gather(ConstBuffer in, Buffer out, std::string_view tag) override;
  Work do_broadcast(Buffer data, int root, std::string_view tag) override;
  void do_barrier() override {}
  std::unique_ptr<Communicator> do_split(int color, int key) override;
  void do_abort(const Error& reason) noexcept override;

  std::uint64_t allocations_ = 0;
};

}  // namespace ddpkit
