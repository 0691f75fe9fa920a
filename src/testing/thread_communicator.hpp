#pragma once

#include <memory>

#include "ddpkit/comm/communicator.hpp"
#include "testing/thread_group.hpp"

namespace ddpkit::testing {

/// One rank of a ThreadGroup.
class ThreadCommunicator final : public Communicator {
 public:
  explicit ThreadCommunicator(const Seat& seat) : Communicator(seat.group->topology_of(seat.rank)), group_(seat.group) {}

  std::string_view backend() const noexcept override { return "thread_world"; }

 private:
  Memory do_allocate(std::size_t bytes) override;
  Work do_all_reduce(Buffer data, ReduceOp op, std::string_view tag) override;
  Work do_reduce_scatter(ConstBuffer in, Buffer out, ReduceOp op, std::string_view tag) override;
  Work do_all_gather(ConstBuffer in, Buffer out, std::string_view tag) override;
  Work do_broadcast(Buffer data, int root, std::string_view tag) override;
  void do_barrier() override;
  std::unique_ptr<Communicator> do_split(int color, int key) override;
  void do_abort(const Error& reason) noexcept override { group_->abort(rank(), reason); }

  Work issue(Contribution mine);
  std::shared_ptr<Meeting> meet(Contribution mine);

  std::shared_ptr<ThreadGroup> group_;
};

}  // namespace ddpkit::testing
