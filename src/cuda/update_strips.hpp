#pragma once

#include <span>

#include "ddpkit/comm/device.hpp"
#include "optim/update_rule.hpp"

namespace ddpkit::cuda {

/// Applies `rule` to memory of a CUDA device, all of one type, on the device's stream that is named there. Asynchronous; the
/// bits are those of update_elements. Throws UsageError for integers, CommError when CUDA refuses.
void update_strips(const UpdateRule& rule, DType dtype, std::span<const UpdateStrip> strips, const Device& device);

}  // namespace ddpkit::cuda
