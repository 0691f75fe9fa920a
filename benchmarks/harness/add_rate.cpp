#include "harness/add_rate.hpp"

#include "harness/rounds.hpp"

namespace bench {
namespace {

[[gnu::target_clones("avx512f", "avx2", "default"), gnu::optimize("O3")]] void add(float* to, const float* from,
                                                                                   std::size_t count) {
#pragma GCC ivdep
  for (std::size_t i = 0; i < count; ++i) to[i] += from[i];
}

}  // namespace

double AddRate::seconds(int iterations) {
  add(to_.data.get(), from_.data.get(), to_.size);
  return seconds_of([&] {
    for (int i = 0; i < iterations; ++i) add(to_.data.get(), from_.data.get(), to_.size);
  });
}

}  // namespace bench
