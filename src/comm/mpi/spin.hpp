#pragma once

#include <chrono>
#include <thread>

namespace ddpkit::mpi {

/// How long a thread looks again before it sleeps: about what going to sleep and being woken would cost.
inline constexpr std::chrono::microseconds kSpin{20};

/// Leaves the core's units to its other thread for a moment, between two looks at memory that another core writes.
inline void pause() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Whether `ready` came true within a few looks. Yields between them: there may be more ranks than cores.
template <class Ready>
bool spin_until(Ready ready) {
  if (ready()) return true;
  const auto end = std::chrono::steady_clock::now() + kSpin;
  while (std::chrono::steady_clock::now() < end) {
    std::this_thread::yield();
    if (ready()) return true;
  }
  return false;
}

/// Between two looks at something that takes long. The core belongs to the thread that computes.
inline constexpr std::chrono::microseconds kBetweenLooks{50};

/// Returns once `ready` is true. Looks often at first, then seldom.
template <class Ready>
void wait_beside_work(Ready ready) {
  if (spin_until(ready)) return;
  do std::this_thread::sleep_for(kBetweenLooks);
  while (!ready());
}

}  // namespace ddpkit::mpi
