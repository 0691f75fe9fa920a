#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "ddpkit/base/dtype.hpp"

namespace ddpkit {

// to_float, to_half and to_bfloat16 of base/dtype.hpp in a form that a loop makes vectors of on every machine: no branch, no
// call, and no denormal float, so that a processor told to flush those gives the same.

namespace detail {

/// `a` where `number` is below `limit`, else `b`; both below 2^31. In arithmetic, since compilers make branches of comparisons.
constexpr std::uint32_t below(std::uint32_t number, std::uint32_t limit, std::uint32_t a, std::uint32_t b) noexcept {
  const auto mask = static_cast<std::uint32_t>(static_cast<std::int32_t>(number - limit) >> 31);
  return (a & mask) | (b & ~mask);
}

inline constexpr std::uint32_t kHalfBias = (127U - 15U) << 23;  // between the exponents of float and half

}  // namespace detail

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
  const std::uint32_t magnitude = value.bits & 0x7fffU;
  const std::uint32_t normal = (magnitude << 13) + detail::kHalfBias;
  const auto subnormal = std::bit_cast<std::uint32_t>(static_cast<float>(static_cast<std::int32_t>(magnitude)) * 0x1p-24F);
  const std::uint32_t finite = detail::below(magnitude, 0x400U, subnormal, normal);
  const std::uint32_t wide = detail::below(magnitude, 0x7c00U, finite, normal + detail::kHalfBias);
  return std::bit_cast<float>(wide | (value.bits & 0x8000U) << 16);
}

/// The nearest, ties to even; what is not a number stays so.
constexpr BFloat16 nearest_bfloat16(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = (bits + 0x7fffU + (bits >> 16 & 1U)) >> 16;
  const std::uint32_t nan = bits >> 16 | 0x40U;  // rounding could turn it into an infinity
  return {static_cast<std::uint16_t>(detail::below(bits & 0x7fffffffU, 0x7f800001U, rounded, nan))};
}

constexpr Half nearest_half(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  const std::uint32_t normal = (magnitude - detail::kHalfBias + 0xfffU + (magnitude >> 13 & 1U)) >> 13;
  // Beside one half, a float's last place is that of half's subnormals.
  const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5F) - 0x3f000000U;
  const std::uint32_t nan = 0x7e00U | (magnitude >> 13 & 0x3ffU);
  const std::uint32_t special = detail::below(magnitude, 0x7f800001U, 0x7c00U, nan);
  const std::uint32_t finite = detail::below(magnitude, 0x38800000U, subnormal, normal);
  const std::uint32_t narrow = detail::below(magnitude, 0x47800000U, finite, special);  // 65536
  return {static_cast<std::uint16_t>(narrow | (bits >> 16 & 0x8000U))};
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
