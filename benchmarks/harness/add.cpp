#include "harness/add.hpp"

namespace bench {

[[gnu::target_clones("avx512f", "avx2", "default"), gnu::optimize("O3")]] void add(float* to, const float* from,
                                                                                   std::size_t count) {
#pragma GCC ivdep
  for (std::size_t i = 0; i < count; ++i) to[i] += from[i];
}

}  // namespace bench
