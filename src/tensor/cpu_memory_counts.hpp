#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

namespace ddpkit {

/// What the allocator for CPU tensors counts, in bytes. There is one per process, as LibTorch has one allocator, and it is
/// never destroyed: tensors with static lifetime are freed after main.
struct CpuMemoryCounts {
  std::atomic<std::int64_t> live = 0;
  std::atomic<std::int64_t> peak = 0;
  std::atomic<std::int64_t> wanted = 0;  ///< most that would have been live had nothing been refused
  std::atomic<std::int64_t> limit = 0;   ///< 0: none
  std::atomic<bool> installed = false;
  std::atomic<const std::function<bool(std::size_t)>*> refuse = nullptr;
};

CpuMemoryCounts& cpu_memory_counts() noexcept;

}  // namespace ddpkit
