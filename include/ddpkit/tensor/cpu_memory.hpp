#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "ddpkit/base/quantity.hpp"

// LibTorch has one allocator for CPU tensors per process. This one counts and can refuse, so that a micro-batch that is too
// large ends in an exception that can be handled, and not in the kernel killing the process.

namespace ddpkit {

/// Makes it the process's allocator for CPU tensors. First thing in main, before other threads; `ddpkit::main` does it. A
/// second call does nothing. What was allocated before is freed as before, and not counted.
///
/// Also lets the process keep memory that it frees, up to 32 MiB a block, instead of handing it to the kernel and taking it
/// back in every step. Not where the environment sets MALLOC_TRIM_THRESHOLD_, MALLOC_MMAP_THRESHOLD_, MALLOC_TOP_PAD_ or
/// GLIBC_TUNABLES.
void install_cpu_memory();

/// Whether install_cpu_memory was called.
bool cpu_memory_installed() noexcept;

/// Allocations that would bring live bytes above it throw c10::OutOfMemoryError from here on. 0: no limit. Thread-safe.
void limit_cpu_memory(Bytes limit);

/// For tests: `refuse(bytes)` is asked for each allocation, from whichever thread makes it, and the allocation fails where it
/// says yes. An empty function takes it back. Not while other threads allocate.
void refuse_cpu_memory(std::function<bool(std::size_t bytes)> refuse);

}  // namespace ddpkit
