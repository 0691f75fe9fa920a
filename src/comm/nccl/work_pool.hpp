#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "comm/nccl/nccl_work.hpp"

namespace ddpkit::nccl {

/// The works of one session: those under way, oldest first, and those free for reuse, so that the steady state neither
/// allocates nor makes events. Thread-safe.
class WorkPool {
 public:
  explicit WorkPool(std::shared_ptr<Session> session) : session_(std::move(session)) {}

  /// A work that nobody else holds. Lets go of the memory of those that are done.
  std::shared_ptr<NcclWork> take();

  /// Remembers a work that has been started.
  void track(std::shared_ptr<NcclWork> work);

  /// Fails the session when an operation under way has failed, or the oldest is past its time.
  void inspect() noexcept;

  std::size_t under_way() const;

 private:
  std::shared_ptr<Session> session_;
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<NcclWork>> under_way_;
  std::vector<std::shared_ptr<NcclWork>> idle_;
};

}  // namespace ddpkit::nccl
