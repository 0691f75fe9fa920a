#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "comm/mpi/channel.hpp"
#include "ddpkit/comm/signature.hpp"
#include "ddpkit/comm/work.hpp"

namespace ddpkit::mpi {

class OperationQueue;

/// One collective: issued by a caller, run by the communication thread, waited for by whoever holds its Work.
class Operation final : public Work::State {
 public:
  struct Plan {
    Signature signature = {};
    std::uint64_t sequence = 0;  ///< number among the operations of its channel; 0 where ranks need not agree
    std::string tag = {};
    std::function<void()> on_node = {};  ///< what the ranks of the node do or settle first; its errors name the operation
    std::function<void()> body = {};     ///< blocking MPI calls; holds the memory they use
  };

  Operation(std::shared_ptr<OperationQueue> queue, std::shared_ptr<Channel> channel, Plan plan);

  void wait() override;
  void synchronize() override { wait(); }
  bool done() override;

  /// On the communication thread. Throws CommError when MPI fails or when a rank of this node is in another operation.
  void run();

  /// After it everyone who waits goes on, or throws `error`.
  void finish(std::exception_ptr error) noexcept;

 private:
  bool finished() const noexcept { return done_.load(std::memory_order_acquire); }
  void block();
  [[noreturn]] void expire();
  std::string describe_self() const;

  std::shared_ptr<OperationQueue> queue_;
  std::shared_ptr<Channel> channel_;
  Plan plan_;
  std::mutex mutex_;
  std::condition_variable finished_;
  std::atomic<bool> done_ = false;
  std::exception_ptr error_;
};

}  // namespace ddpkit::mpi
