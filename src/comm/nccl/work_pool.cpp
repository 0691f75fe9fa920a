#include "comm/nccl/work_pool.hpp"

#include <algorithm>
#include <atomic>

namespace ddpkit::nccl {

std::shared_ptr<NcclWork> WorkPool::take() {
  const std::lock_guard lock(mutex_);
  // One stream, so they finish in order.
  const auto unfinished = std::find_if(under_way_.begin(), under_way_.end(), [](const auto& work) { return !work->done(); });
  idle_.insert(idle_.end(), std::make_move_iterator(under_way_.begin()), std::make_move_iterator(unfinished));
  under_way_.erase(under_way_.begin(), unfinished);
  const auto free = std::find_if(idle_.begin(), idle_.end(), [](const auto& work) { return work.use_count() == 1; });
  if (free == idle_.end()) return std::make_shared<NcclWork>(session_);
  std::atomic_thread_fence(std::memory_order_acquire);  // after what the last holder did
  std::shared_ptr<NcclWork> work = std::move(*free);
  idle_.erase(free);
  return work;
}

void WorkPool::track(std::shared_ptr<NcclWork> work) {
  const std::lock_guard lock(mutex_);
  under_way_.push_back(std::move(work));
}

void WorkPool::inspect() noexcept {
  std::shared_ptr<NcclWork> oldest;
  {
    const std::lock_guard lock(mutex_);
    const auto unfinished = std::find_if(under_way_.begin(), under_way_.end(), [](const auto& work) { return !work->done(); });
    if (unfinished != under_way_.end()) oldest = *unfinished;
  }
  if (oldest) oldest->expire(std::chrono::steady_clock::now());
}

std::size_t WorkPool::under_way() const {
  const std::lock_guard lock(mutex_);
  return under_way_.size();
}

}  // namespace ddpkit::nccl
