#pragma once

#include <cuda_runtime_api.h>
#include <nccl.h>

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "comm/nccl/handles.hpp"
#include "comm/nccl/operation.hpp"
#include "ddpkit/base/error.hpp"

namespace ddpkit::nccl {

/// One NCCL communicator and the stream it works on, shared by the Communicator, the works under way and the memory registered
/// with it. Thread-safe. The first failure aborts the communicator, once, and is what every later call reports.
///
/// The communicator is non-blocking: a blocking one cannot be aborted while another thread is inside it. So a call may return
/// before NCCL has taken it, and is asked after until it has.
class Session {
 public:
  struct Options {
    int rank = 0;
    int device = 0;
    std::chrono::milliseconds timeout{0};
  };

  /// Collective over `world_size` ranks that hold the same id. The calling thread's device must be `options.device`.
  static std::shared_ptr<Session> connect(const Options& options, int world_size, const ncclUniqueId& id);

  /// Collective over the ranks of this session. Null for a negative colour. `rank` is the caller's in the new session.
  std::shared_ptr<Session> split(const Operation& operation, int color, int key, int rank);

  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const Options& options() const noexcept { return options_; }
  cudaStream_t stream() const noexcept { return stream_.get(); }

  /// One call into NCCL; pass `std::ref(lambda)` where an allocation would be one per step.
  using Call = std::function<ncclResult_t(ncclComm_t)>;

  /// Issues `call` after what is on `caller` now, and records `done` after it.
  void enqueue(const Operation& operation, std::string_view name, const Call& call, cudaStream_t caller, cudaEvent_t done);

  /// Makes later work on `caller` wait for `done`.
  void order_after(const Operation& operation, cudaEvent_t done, cudaStream_t caller);

  /// Whether `done` has passed. Throws when the communicator has failed.
  bool passed(const Operation& operation, cudaEvent_t done);

  /// Blocks the host until `done` has passed; past the timeout the session fails with ExitStatus::timeout.
  void await(const Operation& operation, cudaEvent_t done);

  /// Calls NCCL without a stream, as for registration.
  void invoke(const Operation& operation, std::string_view name, const Call& call);

  /// As `invoke`, for destructors: does nothing when the communicator has failed, and ignores what NCCL answers.
  void invoke_quietly(const Call& call) noexcept;

  /// Throws when an operation under way has failed.
  void check(const Operation& operation);

  /// Waits until the stream is idle, or aborts past the timeout. After it nothing of this session runs on the device.
  void drain() noexcept;

  /// Ends the communicator in good order: waits, up to the timeout, until all that was issued is done everywhere; past it,
  /// aborts.
  void close() noexcept;

  /// Ends the communicator for `reason` unless it has failed already. Callable from any thread, also while another one waits.
  void fail(const std::string& reason, ExitStatus status) noexcept;

 private:
  enum class State {
    alive,   // takes operations
    closed,  // ended in good order: all that was issued is done
    failed,  // aborted: what was not done before never will be
  };
  using Lock = std::unique_lock<std::mutex>;

  explicit Session(const Options& options);
  void require_alive(const Operation& operation, const Lock& lock) const;
  void require_healthy(const Operation& operation, const Lock& lock);
  void settle(const Operation& operation, std::string_view name, ncclResult_t result, Lock& lock);
  void check_cuda(const Operation& operation, cudaError_t error, std::string_view call, const Lock& lock);
  [[noreturn]] void give_up(const Operation& operation, const std::string& reason, ExitStatus status, const Lock& lock);
  void abort_once(const std::string& reason, ExitStatus status, const Lock& lock) noexcept;
  bool finalize(Lock& lock) noexcept;

  const Options options_;
  Stream stream_;
  Event ready_;
  mutable std::mutex mutex_;
  State state_ = State::alive;
  ncclComm_t comm_ = nullptr;  // null before it is made and after it has ended
  std::string failure_;        // why it is no longer alive
  ExitStatus failure_status_ = ExitStatus::usage;
};

}  // namespace ddpkit::nccl
