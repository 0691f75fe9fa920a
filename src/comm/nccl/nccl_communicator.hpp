#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "comm/nccl/clique.hpp"
#include "comm/nccl/rendezvous.hpp"
#include "comm/nccl/session.hpp"
#include "comm/nccl/watch.hpp"
#include "comm/nccl/work_pool.hpp"
#include "ddpkit/comm/communicator.hpp"

namespace ddpkit::nccl {

/// NCCL on one device. Each collective runs on the communicator's own stream, after what its buffers' stream holds when it is
/// issued; Work::wait lets that stream go on after it. The host blocks in barrier, allocate, split and Work::synchronize only.
/// A single rank puts nothing on any stream for what is in place.
class NcclCommunicator final : public Communicator {
 public:
  struct Options {
    int device = 0;
    std::chrono::milliseconds timeout{0};
    /// Ends the job once the communicator is aborted; may not return.
    std::function<void(const Error&)> end_job;
  };

  /// Collective over the ranks of the rendezvous. Throws CommError, on all ranks, when one has no usable device or two share
  /// one.
  static std::unique_ptr<Communicator> connect(Rendezvous& rendezvous, const Options& options);

  ~NcclCommunicator() override;

  std::string_view backend() const noexcept override { return "nccl"; }

 private:
  NcclCommunicator(std::shared_ptr<Session> session, std::vector<Member> members, int rank, Options options);

  Memory do_allocate(std::size_t bytes) override;
  Work do_all_reduce(Buffer data, ReduceOp op, std::string_view tag) override;
  Work do_reduce_scatter(ConstBuffer in, Buffer out, ReduceOp op, std::string_view tag) override;
  Work do_all_gather(ConstBuffer in, Buffer out, std::string_view tag) override;
  Work do_broadcast(Buffer data, int root, std::string_view tag) override;
  void do_barrier() override;
  std::unique_ptr<Communicator> do_split(int color, int key) override;
  void do_abort(const Error& reason) noexcept override;

  bool alone() const noexcept { return members_.size() == 1; }
  Operation next(std::string_view name, std::string_view tag, std::size_t bytes);
  void check_place(const Operation& operation, const Device& device, std::size_t count) const;
  template <class Call>
  Work issue(Operation operation, std::string_view name, const ConstBuffer& in, const Buffer& out, const Call& call);
  std::vector<std::int64_t> gather_numbers(std::string_view name, std::span<const std::int64_t> mine);

  Options options_;
  std::vector<Member> members_;
  std::shared_ptr<Session> session_;
  DeviceBytes scratch_;
  WorkPool works_;
  Watch watch_;
  std::uint64_t issued_ = 0;
  std::uint64_t allocated_ = 0;
};

}  // namespace ddpkit::nccl
