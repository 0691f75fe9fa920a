#pragma once

#include <cstddef>

namespace ddpkit::testing {

/// How often this thread has called operator new, in programs that heap_count.cpp is part of.
std::size_t heap_count() noexcept;

}  // namespace ddpkit::testing
