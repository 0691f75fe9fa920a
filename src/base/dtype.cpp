#include "ddpkit/base/dtype.hpp"

namespace ddpkit {

float to_float(Half value) noexcept {
  return static_cast<float>(std::bit_cast<_Float16>(value.bits));
}

Half to_half(float value) noexcept {
  return {std::bit_cast<std::uint16_t>(static_cast<_Float16>(value))};
}

BFloat16 to_bfloat16(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const bool nan = (bits & 0x7fffffffU) > 0x7f800000U;
  if (nan) return {static_cast<std::uint16_t>((bits >> 16) | 0x40U)};  // rounding could turn it into an infinity
  const std::uint32_t to_even = 0x7fffU + ((bits >> 16) & 1U);
  return {static_cast<std::uint16_t>((bits + to_even) >> 16)};
}

}  // namespace ddpkit
