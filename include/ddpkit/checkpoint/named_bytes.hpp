#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ddpkit/base/dtype.hpp"

namespace ddpkit {

/// A tensor as files know it: a name and its elements, row-major, in this machine's byte order (little-endian).
/// The bytes are borrowed and must outlive the value.
struct NamedBytes {
  std::string name{};
  DType dtype = DType::float32;
  std::vector<std::int64_t> shape{};  ///< empty: one element without dimensions
  std::span<const std::byte> bytes{};
};

}  // namespace ddpkit
