#pragma once

#include <c10/util/FunctionRef.h>

#include <cstdint>

namespace ddpkit {

/// Calls `body(begin, end)` for ranges that together are [0, count), on LibTorch's threads and the caller's; on the caller's
/// alone when there are `grain` or fewer, inside another such call, and where LibTorch was set to one thread. at::parallel_for
/// itself does so only in files that are compiled with OpenMP, as in_parallel.cpp is.
void in_parallel(std::int64_t count, std::int64_t grain, c10::function_ref<void(std::int64_t begin, std::int64_t end)> body);

}  // namespace ddpkit
