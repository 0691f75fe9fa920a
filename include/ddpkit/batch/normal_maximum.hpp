#pragma once

#include <cstdint>

namespace ddpkit {

/// Expected maximum of `count` independent draws of the standard normal distribution: 0 for one, 0.564 for two, about
/// sqrt(2 ln count) for many. `count` is at least 1. The integral of 1 - F^n above 0 less that of F^n below, by Simpson's rule;
/// right to 1e-6. Pure.
double expected_normal_maximum(std::int64_t count);

}  // namespace ddpkit
