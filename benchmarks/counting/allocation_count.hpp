#pragma once

#include <cstdint>

namespace bench {

/// Blocks of memory that all threads of this process have asked the heap for so far.
std::int64_t allocation_count() noexcept;

}  // namespace bench
