#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/topology.hpp"
#include "ddpkit/comm/buffer.hpp"
#include "ddpkit/comm/memory.hpp"
#include "ddpkit/comm/work.hpp"

namespace ddpkit {

/// How elements of the ranks are combined. `mean` divides the sum by the world size; for integers it is refused.
enum class ReduceOp { sum, mean, min, max };

std::string_view name_of(ReduceOp op);

/// The ranks of a job and what they can do together. All ranks issue the same operations in the same order, from one thread at
/// a time. Public functions check their arguments alike for every backend and throw UsageError before anything is sent.
///
/// float16 and bfloat16 are summed in float32, except by NCCL, which rounds as NCCL does.
class Communicator {
 public:
  virtual ~Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  const Topology& topology() const noexcept { return topology_; }
  int rank() const noexcept { return topology_.rank; }
  int world_size() const noexcept { return topology_.world_size; }

  /// "mpi", "nccl", "local" or the name of a test backend.
  virtual std::string_view backend() const noexcept = 0;

  /// Memory that this backend reduces fastest. Collective and synchronous, equal size on all ranks. Freeing is not collective.
  /// To one operation either all ranks pass memory of one allocation, at any offsets, or none passes allocated memory.
  Memory allocate(std::size_t bytes);

  /// Combines `data` over all ranks, in place. Collective: equal count and type everywhere. Asynchronous, like the next three.
  /// `tag` names the operation in error messages: "bucket 4, fc2.weight..fc3.bias".
  [[nodiscard]] Work all_reduce(Buffer data, ReduceOp op, std::string_view tag = {});

  /// Combines `in` (world_size x out.count elements) and leaves rank r the r-th part in `out`. `out` may be that part of `in`.
  [[nodiscard]] Work reduce_scatter(ConstBuffer in, Buffer out, ReduceOp op, std::string_view tag = {});

  /// Every rank's `in`, in rank order, into `out` (world_size x in.count elements). `in` may be the own part of `out`.
  [[nodiscard]] Work all_gather(ConstBuffer in, Buffer out, std::string_view tag = {});

  /// `data` of rank `root` to all ranks.
  [[nodiscard]] Work broadcast(Buffer data, int root, std::string_view tag = {});

  /// Returns when every rank has called it. Synchronous.
  void barrier();

  /// A communicator of the ranks with equal `color`, numbered by `key`, then by rank. Collective and synchronous; a rank with a
  /// negative colour gets none.
  std::unique_ptr<Communicator> split(int color, int key);

  /// Ends every rank of the job with the error's status. Not collective, callable from any thread; on most backends it does not
  /// return. Legal, alone of all calls, after an operation has failed.
  void abort(const Error& reason) noexcept;

 protected:
  /// `accepts` is where the buffers of this backend must lie; others are refused.
  explicit Communicator(Topology topology, Device::Type accepts = Device::Type::cpu)
      : topology_(std::move(topology)), accepts_(accepts) {}

 private:
  virtual Memory do_allocate(std::size_t bytes) = 0;
  virtual Work do_all_reduce(Buffer data, ReduceOp op, std::string_view tag) = 0;
  virtual Work do_reduce_scatter(ConstBuffer in, Buffer out, ReduceOp op, std::string_view tag) = 0;
  virtual Work do_all_gather(ConstBuffer in, Buffer out, std::string_view tag) = 0;
  virtual Work do_broadcast(Buffer data, int root, std::string_view tag) = 0;
  virtual void do_barrier() = 0;
  virtual std::unique_ptr<Communicator> do_split(int color, int key) = 0;
  virtual void do_abort(const Error& reason) noexcept = 0;

  // Of either buffer as it is: a conversion would count the memory's holders up and down, which a small operation can tell.
  template <class AnyBuffer>
  void check_data(std::string_view operation, std::string_view tag, const AnyBuffer& buffer) const;
  template <class Whole, class Part>
  void check_pair(std::string_view operation, std::string_view tag, const Whole& whole, const Part& part) const;

  Topology topology_;
  Device::Type accepts_;
};

}  // namespace ddpkit
