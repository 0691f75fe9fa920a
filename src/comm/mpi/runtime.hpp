#pragma once

#include <memory>
#include <thread>

#include "comm/mpi/channel.hpp"
#include "comm/mpi/operation_queue.hpp"
#include "ddpkit/base/error.hpp"

namespace ddpkit::mpi {

/// MPI in this process: started here unless the program has, and the one thread that makes all our calls while communicators
/// live. Shared by them. MPI itself remembers it (as an attribute of MPI_COMM_SELF), so that all of them find the same one.
///
/// Ends in order when nothing has failed and no exception is on its way: the thread, then MPI if it was started here. Otherwise
/// it makes no further call, since peers may never answer; the process then ends without MPI_Finalize, and the launcher ends
/// the others.
class Runtime : public std::enable_shared_from_this<Runtime> {
 public:
  /// Call it from the main thread while none of our operations is on its way. Throws CommError when MPI is already finalized or
  /// refuses threads.
  static std::shared_ptr<Runtime> acquire();

  Runtime();
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  const std::shared_ptr<OperationQueue>& queue() const noexcept { return queue_; }

  /// Opens a channel out of `parent` on the communication thread and waits for it. Null for a negative colour.
  std::shared_ptr<Channel> open(std::shared_ptr<Channel> parent, Operation::Plan plan, Group group);

  /// Logs, ends every rank, does not return: also when the thread is stuck inside MPI.
  [[noreturn]] void abort(const Topology& topology, const Error& reason) noexcept;

 private:
  bool in_order() const;
  void stop_thread();

  enum class Owner { program, runtime };  // of MPI_Init and MPI_Finalize
  static Owner start_mpi();

  Owner owner_;
  int exceptions_at_start_;
  std::thread::id main_thread_;
  std::shared_ptr<OperationQueue> queue_;
  std::thread thread_;
};

}  // namespace ddpkit::mpi
