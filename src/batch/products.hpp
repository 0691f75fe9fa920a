#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>

namespace ddpkit {

/// Empty where the product exceeds 2^63 - 1. Of numbers of at least 1.
inline std::optional<std::int64_t> product(std::initializer_list<std::int64_t> factors) {
  std::int64_t result = 1;
  for (const std::int64_t factor : factors) {
    if (result > std::numeric_limits<std::int64_t>::max() / factor) return std::nullopt;
    result *= factor;
  }
  return result;
}

}  // namespace ddpkit
