#include "tensor/in_parallel.hpp"

#include <ATen/Parallel.h>

namespace ddpkit {

void in_parallel(std::int64_t count, std::int64_t grain, c10::function_ref<void(std::int64_t, std::int64_t)> body) {
  at::parallel_for(0, count, grain, [&](std::int64_t begin, std::int64_t end) { body(begin, end); });
}

}  // namespace ddpkit
