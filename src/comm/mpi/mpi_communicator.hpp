#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>

#include "comm/mpi/channel.hpp"
#include "comm/mpi/node_work.hpp"
#include "comm/mpi/runtime.hpp"
#include "ddpkit/comm/communicator.hpp"

namespace ddpkit::mpi {

/// Ranks that talk through one duplicated MPI communicator and, on a node, through memory that they share.
class MpiCommunicator final : public Communicator {
 public:
  MpiCommunicator(std::shared_ptr<Runtime> runtime, std::shared_ptr<Channel> channel);

  /// Waits for what is on its way and frees the MPI communicator, unless something failed or an exception is on its way.
  ~MpiCommunicator() override;

  std::string_view backend() const noexcept override { return "mpi"; }

 private:
  Memory do_allocate(std::size_t bytes) override;
  Work do_all_reduce(Buffer data, ReduceOp op, std::string_view tag) override;
  Work do_reduce_scatter(ConstBuffer in, Buffer out, ReduceOp op, std::string_view tag) override;
  Work do_all_gather(ConstBuffer in, Buffer out, std::string_view tag) override;
  Work do_broadcast(Buffer data, int root, std::string_view tag) override;
  void do_barrier() override;
  std::unique_ptr<Communicator> do_split(int color, int key) override;
  void do_abort(const Error& reason) noexcept override;

  bool alone() const noexcept { return world_size() == 1; }
  template <class AnyBuffer>
  bool on_node(const AnyBuffer& in) const noexcept;
  template <class AnyBuffer>
  bool on_only_node(const AnyBuffer& in) const noexcept;
  std::function<void()> gate(const Signature& signature) const;
  Work issue(const Signature& signature, std::string_view tag, std::function<void()> body);
  Work issue_on_node(NodeOperation operation);
  Work enqueue(Operation::Plan plan);
  void close();

  std::shared_ptr<Runtime> runtime_;
  std::shared_ptr<Channel> channel_;
  int exceptions_at_start_;
  std::mutex issuing_;  // numbers and places in the queue go together
  NodeWorks works_;
  std::uint64_t issued_ = 0;
  std::uint64_t allocated_ = 0;
};

/// A communicator over a duplicate of `comm`. Collective over its ranks.
std::unique_ptr<Communicator> open_communicator(std::shared_ptr<Runtime> runtime, std::shared_ptr<Channel> parent);

}  // namespace ddpkit::mpi
