#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "ddpkit/base/dtype.hpp"

namespace ddpkit {

namespace detail {
inline constexpr std::uint32_t kHalfBias = (127U - 15U) << 23;  // between the exponents of float and half
}

// Without branches, calls or 16-bit arithmetic, so that a loop over them becomes vector code on every machine.

constexpr float widened(float value) noexcept {
  return value;
}

constexpr double widened(double value) noexcept {
  return value;
}

constexpr float widened(BFloat16 value) noexcept {
  return to_float(value);
}

constexpr float widened(Half value) noexcept {
  constexpr std::uint32_t kExponent = 0x1fU << 23;  // half's, where float's fraction ends
  const std::uint32_t shifted = (value.bits & 0x7fffU) << 13;
  const std::uint32_t exponent = shifted & kExponent;
  // Subnormals: give them the exponent of the smallest normal number, then take that number away.
  const float small = std::bit_cast<float>(shifted + detail::kHalfBias + (1U << 23)) - 0x1p-14F;
  std::uint32_t magnitude = shifted + detail::kHalfBias;
  magnitude = exponent == kExponent ? magnitude + detail::kHalfBias : magnitude;
  magnitude = exponent == 0 ? std::bit_cast<std::uint32_t>(small) : magnitude;
  return std::bit_cast<float>(magnitude | (static_cast<std::uint32_t>(value.bits & 0x8000U) << 16));
}

/// The nearest, ties to even; what is not a number stays so.
constexpr BFloat16 nearest_bfloat16(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16;
  const std::uint32_t quiet = (bits >> 16) | 0x40U;  // rounding could turn it into an infinity
  return {static_cast<std::uint16_t>((bits & 0x7fffffffU) > 0x7f800000U ? quiet : rounded)};
}

constexpr Half nearest_half(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  const std::uint32_t normal = (magnitude - detail::kHalfBias + 0xfffU + ((magnitude >> 13) & 1U)) >> 13;
  // Subnormals: beside one half, a float's last place is that of half's subnormals.
  const std::uint32_t small = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5F) - 0x3f000000U;
  const std::uint32_t quiet = 0x7e00U | ((magnitude >> 13) & 0x3ffU);
  std::uint32_t half = magnitude < 0x38800000U ? small : normal;
  half = magnitude >= 0x47800000U ? 0x7c00U : half;  // 65536
  half = magnitude > 0x7f800000U ? quiet : half;
  return {static_cast<std::uint16_t>(half | ((bits >> 16) & 0x8000U))};
}

template <class T, class Real>
constexpr T narrowed(Real value) noexcept {
  if constexpr (std::is_same_v<T, Half>)
    return nearest_half(value);
  else if constexpr (std::is_same_v<T, BFloat16>)
    return nearest_bfloat16(value);
  else
    return value;
}

}  // namespace ddpkit
