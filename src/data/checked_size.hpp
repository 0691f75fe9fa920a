#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "ddpkit/base/dtype.hpp"

namespace ddpkit {

/// Bytes of an array of this shape. Throws DataError that begins with `what` when an extent is negative or the product
/// overflows: a shape read from a file may say anything.
std::size_t checked_bytes(std::span<const std::int64_t> shape, DType dtype, const std::string& what);

/// "3 x 32 x 32"
std::string shape_text(std::span<const std::int64_t> shape);

}  // namespace ddpkit
