#include "ddpkit/tensor/cpu_memory.hpp"

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/alignment.h>
#include <c10/util/Exception.h>
#include <malloc.h>

#include <cstdlib>

#include "ddpkit/base/figures.hpp"
#include "ddpkit/base/text.hpp"
#include "tensor/cpu_memory_counts.hpp"

namespace ddpkit {
namespace {

// Relaxed throughout: the numbers order nothing.
constexpr auto kUnordered = std::memory_order_relaxed;

constinit CpuMemoryCounts the_counts;

/// Above LibTorch's own allocator, which has 0.
constexpr std::uint8_t kPriority = 1;

std::string told_bytes(std::int64_t bytes) {
  return bytes_figure(static_cast<double>(bytes));
}

void raise_to(std::atomic<std::int64_t>& most, std::int64_t value) {
  std::int64_t known = most.load(kUnordered);
  while (value > known && !most.compare_exchange_weak(known, value, kUnordered)) {
  }
}

/// Without a backtrace, which takes milliseconds to be written and says nothing here.
[[noreturn]] void throw_out_of_memory(std::size_t bytes, const std::string& why) {
  c10::profiledCPUMemoryReporter().OutOfMemory(bytes);
  raise_to(the_counts.wanted, the_counts.live.load(kUnordered) + static_cast<std::int64_t>(bytes));
  throw c10::OutOfMemoryError(text("no memory for a tensor of ", told_bytes(static_cast<std::int64_t>(bytes)), " beside the ",
                                   told_bytes(the_counts.live.load(kUnordered)), " that live on the CPU: ", why),
                              nullptr);
}

void require_room(std::size_t bytes) {
  const std::int64_t limit = the_counts.limit.load(kUnordered);
  if (limit > 0 && the_counts.live.load(kUnordered) + static_cast<std::int64_t>(bytes) > limit)
    throw_out_of_memory(bytes, text("the limit is ", told_bytes(limit), " (memory.limit)"));
  const auto* refuse = the_counts.refuse.load(kUnordered);
  if (refuse != nullptr && (*refuse)(bytes)) throw_out_of_memory(bytes, "refused by a test");
}

/// Counted is what malloc really gives, so that the sum is the process's resident memory without a header in each block.
std::int64_t size_of(void* block) {
  return static_cast<std::int64_t>(malloc_usable_size(block));
}

void count_block(void* block) {
  const std::int64_t size = size_of(block);
  raise_to(the_counts.peak, the_counts.live.fetch_add(size, kUnordered) + size);
}

void free_block(void* block) {
  if (block == nullptr) return;
  c10::profiledCPUMemoryReporter().Delete(block);
  the_counts.live.fetch_sub(size_of(block), kUnordered);
  std::free(block);
}

void* new_block(std::size_t bytes) {
  if (bytes == 0) return nullptr;
  require_room(bytes);
  void* block = nullptr;
  if (posix_memalign(&block, c10::gAlignment, bytes) != 0) throw_out_of_memory(bytes, "the system has no more");
  count_block(block);
  c10::profiledCPUMemoryReporter().New(block, bytes);
  return block;
}

/// Context and pointer are the same, and there is a raw deleter, because LibTorch resizes and shares storages by them.
class CpuAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    void* const block = new_block(bytes);
    return {block, block, &free_block, c10::Device(c10::kCPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &free_block; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override { default_copy_data(to, from, bytes); }
};

/// glibc gives the end of its heap, and every larger block, back to the kernel as soon as they are free: gradients and
/// activations of one step, which the next one wants again. Each of their pages then costs a fault in every step, up to a third
/// of it, and how many there are depends on what else happens to lie in the heap.
void keep_freed_memory() {
#ifdef __GLIBC__
  constexpr int kNever = -1, kLargestInHeap = 32 << 20;  // the most that glibc allows
  for (const char* own : {"MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "MALLOC_TOP_PAD_", "GLIBC_TUNABLES"})
    if (std::getenv(own) != nullptr) return;
  mallopt(M_TRIM_THRESHOLD, kNever);
  mallopt(M_MMAP_THRESHOLD, kLargestInHeap);
#endif
}

}  // namespace

CpuMemoryCounts& cpu_memory_counts() noexcept {
  return the_counts;
}

void install_cpu_memory() {
  static auto* const allocator = new CpuAllocator;  // LibTorch keeps it for as long as the process lives
  if (!the_counts.installed) keep_freed_memory();
  c10::SetCPUAllocator(allocator, kPriority);
  the_counts.installed = true;
}

bool cpu_memory_installed() noexcept {
  return the_counts.installed;
}

void limit_cpu_memory(Bytes limit) {
  the_counts.limit.store(limit.count, kUnordered);
}

void refuse_cpu_memory(std::function<bool(std::size_t bytes)> refuse) {
  static std::function<bool(std::size_t)> kept;
  the_counts.refuse = nullptr;
  kept = std::move(refuse);
  if (kept) the_counts.refuse = &kept;
}

}  // namespace ddpkit
