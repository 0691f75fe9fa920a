#include "data/batch_pool.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

namespace ddpkit {
namespace {

/// Only the pool holds it, under whose lock it cannot get another holder.
bool is_free(const std::shared_ptr<BatchFrame>& frame) {
  if (frame.use_count() != 1) return false;
  std::atomic_thread_fence(std::memory_order_acquire);  // what the last holder did comes before what the next one does
  return !frame->batch.extension || frame->batch.extension->unused();
}

}  // namespace

std::shared_ptr<BatchFrame> BatchPool::take(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (bytes != std::exchange(block_bytes_, bytes)) frames_.clear();
  const auto free = std::ranges::find_if(frames_, is_free);
  if (free != frames_.end()) return *free;
  auto frame = std::make_shared<BatchFrame>();
  frame->block = allocate_(bytes);
  ++allocations_;
  return frames_.emplace_back(std::move(frame));
}

std::int64_t BatchPool::allocations() const {
  const std::lock_guard lock(mutex_);
  return allocations_;
}

}  // namespace ddpkit
