#pragma once

#include <cstdint>

namespace ddpkit {

/// A size in bytes. In files: an integer with a unit, "25MiB", "512KiB", "2GiB", "4096B".
struct Bytes {
  std::int64_t count = 0;
  friend constexpr auto operator<=>(const Bytes&, const Bytes&) = default;
};

namespace literals {
constexpr Bytes operator""_KiB(unsigned long long n) {
  return {static_cast<std::int64_t>(n) << 10};
}
constexpr Bytes operator""_MiB(unsigned long long n) {
  return {static_cast<std::int64_t>(n) << 20};
}
constexpr Bytes operator""_GiB(unsigned long long n) {
  return {static_cast<std::int64_t>(n) << 30};
}
}  // namespace literals

/// A stretch of training. In files: "500 steps", "5 epochs" or "5%" (of the whole run); a bare 0 means none.
struct Extent {
  enum class Unit { steps, epochs, percent };
  double amount = 0;
  Unit unit = Unit::steps;
  friend constexpr bool operator==(const Extent&, const Extent&) = default;
};

}  // namespace ddpkit
