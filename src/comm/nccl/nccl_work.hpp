#pragma once

#include <array>
#include <chrono>
#include <memory>
#include <mutex>

#include "comm/nccl/handles.hpp"
#include "comm/nccl/operation.hpp"
#include "comm/nccl/session.hpp"
#include "ddpkit/comm/buffer.hpp"
#include "ddpkit/comm/work.hpp"

namespace ddpkit::nccl {

/// What must outlive a collective under way.
struct Held {
  /// May go once the owner's stream is ordered after the collective: LibTorch's allocator reuses memory in stream order.
  std::array<std::shared_ptr<const void>, 2> owners;
  /// May go once the collective is done: freeing these blocks knows no streams.
  std::array<Memory, 2> memories;
};

/// One collective on the session's stream. Reused by WorkPool for another one once nobody holds it.
class NcclWork final : public Work::State {
 public:
  explicit NcclWork(std::shared_ptr<Session> session);

  /// Issues `call` on behalf of the stream that `caller` is.
  void start(Operation operation, std::string_view name, const Session::Call& call, cudaStream_t caller, Held held);

  void wait() override;
  void synchronize() override;
  bool done() override;

  /// Fails the session when the collective is not done although `now` is past its time.
  void expire(std::chrono::steady_clock::time_point now);

 private:
  void let_go();
  void release();

  std::shared_ptr<Session> session_;
  Event done_;
  Operation operation_;
  cudaStream_t caller_ = nullptr;
  std::chrono::steady_clock::time_point issued_;
  std::mutex mutex_;  // the pool, its watch and the caller may be three threads
  Held held_;
  bool finished_ = false;
};

}  // namespace ddpkit::nccl
