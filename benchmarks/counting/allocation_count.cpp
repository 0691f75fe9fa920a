// Stands in front of glibc's allocator in programs that are linked with it, and counts.
#include "counting/allocation_count.hpp"

#include <atomic>
#include <cerrno>
#include <cstddef>

extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* block, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
}

namespace {

std::atomic<std::int64_t> count{0};

void count_one() {
  count.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

namespace bench {

std::int64_t allocation_count() noexcept {
  return count.load(std::memory_order_relaxed);
}

}  // namespace bench

extern "C" {

void* malloc(std::size_t size) {
  count_one();
  return __libc_malloc(size);
}

void* calloc(std::size_t number, std::size_t size) {
  count_one();
  return __libc_calloc(number, size);
}

void* realloc(void* block, std::size_t size) {
  count_one();
  return __libc_realloc(block, size);
}

void* aligned_alloc(std::size_t alignment, std::size_t size) {
  count_one();
  return __libc_memalign(alignment, size);
}

void* memalign(std::size_t alignment, std::size_t size) {
  return aligned_alloc(alignment, size);
}

int posix_memalign(void** block, std::size_t alignment, std::size_t size) {
  *block = aligned_alloc(alignment, size);
  return *block != nullptr ? 0 : ENOMEM;
}

}  // extern "C"
