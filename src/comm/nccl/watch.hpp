#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

#include "comm/nccl/work_pool.hpp"

namespace ddpkit::nccl {

/// Looks after the operations under way from a thread of its own: a host that is blocked inside CUDA (reading a loss, say) asks
/// NCCL nothing, and would wait for a lost rank for ever. Aborting lets the collective's kernel end, and the host goes on to
/// the next call, which throws.
class Watch {
 public:
  /// `pool` must outlive it.
  Watch(WorkPool& pool, std::chrono::milliseconds interval);

 private:
  void run(const std::stop_token& stop);

  WorkPool& pool_;
  std::chrono::milliseconds interval_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread thread_;  // last: it uses the others, and joins first
};

}  // namespace ddpkit::nccl
