#pragma once

#include <span>
#include <vector>

#include "ddpkit/comm/buffer.hpp"
#include "ddpkit/comm/communicator.hpp"

namespace ddpkit::testing {

/// Combines the inputs, all of one type and count, in the order given. The result has the inputs' type.
std::vector<std::byte> reduce_in_order(std::span<const ConstBuffer> inputs, ReduceOp op);

}  // namespace ddpkit::testing
