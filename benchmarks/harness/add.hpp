#pragma once

#include <cstddef>

namespace bench {

/// Adds one array to another that lies elsewhere, in the widest vectors of the machine.
void add(float* to, const float* from, std::size_t count);

}  // namespace bench
