// Replaces the program's operator new by one that counts.
#include "support/heap_count.hpp"

#include <cstdlib>
#include <new>

namespace {

thread_local std::size_t news_of_this_thread = 0;

}  // namespace

std::size_t ddpkit::testing::heap_count() noexcept {
  return news_of_this_thread;
}

void* operator new(std::size_t bytes) {
  ++news_of_this_thread;
  if (void* memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  throw std::bad_alloc();
}

void operator delete(void* memory) noexcept {
  std::free(memory);
}

void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
