#pragma once

#include <nccl.h>

#include <cstddef>
#include <vector>

namespace ddpkit::testing {

std::size_t size_of(ncclDataType_t type);

/// `count` elements of all inputs, combined one by one.
std::vector<std::byte> reduce(const std::vector<std::vector<std::byte>>& inputs, std::size_t count, ncclDataType_t type,
                              ncclRedOp_t op);

}  // namespace ddpkit::testing
