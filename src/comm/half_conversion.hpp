#pragma once

#include <bit>
#include <cstdint>

#include "ddpkit/base/dtype.hpp"

// to_float and to_half of base/dtype.hpp once more, bit for bit, in a form that compilers turn into vectors: no branch, no call,
// and no denormal float, so that a processor told to flush those gives the same.

namespace ddpkit {

/// `a` where `number` is below `limit`, else `b`; both below 2^31. In arithmetic, since compilers make branches of comparisons.
inline std::uint32_t below(std::uint32_t number, std::uint32_t limit, std::uint32_t a, std::uint32_t b) noexcept {
  const auto mask = static_cast<std::uint32_t>(static_cast<std::int32_t>(number - limit) >> 31);
  return (a & mask) | (b & ~mask);
}

inline float widened(Half value) noexcept {
  const std::uint32_t magnitude = value.bits & 0x7fffU;
  const std::uint32_t shifted = magnitude << 13;
  const std::uint32_t normal = shifted + (112U << 23);
  const auto denormal = std::bit_cast<std::uint32_t>(static_cast<float>(static_cast<std::int32_t>(magnitude)) * 0x1p-24F);
  const std::uint32_t special = shifted + (224U << 23);
  const std::uint32_t finite = below(magnitude, 0x400U, denormal, normal);
  return std::bit_cast<float>(below(magnitude, 0x7c00U, finite, special) | (value.bits & 0x8000U) << 16);
}

inline Half narrowed_to_half(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  const std::uint32_t normal = (magnitude - (112U << 23) + 0xfffU + (magnitude >> 13 & 1U)) >> 13;
  const std::uint32_t denormal = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5F) - 0x3f000000U;
  const std::uint32_t nan = 0x7e00U | (magnitude >> 13 & 0x3ffU);
  const std::uint32_t special = below(magnitude, 0x7f800001U, 0x7c00U, nan);
  const std::uint32_t finite = below(magnitude, 0x38800000U, denormal, normal);
  return {static_cast<std::uint16_t>(below(magnitude, 0x47800000U, finite, special) | (bits >> 16 & 0x8000U))};
}

inline float widened(BFloat16 value) noexcept {
  return to_float(value);
}

inline BFloat16 narrowed_to_bfloat16(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = (bits + 0x7fffU + (bits >> 16 & 1U)) >> 16;
  const std::uint32_t nan = bits >> 16 | 0x40U;
  return {static_cast<std::uint16_t>(below(bits & 0x7fffffffU, 0x7f800001U, rounded, nan))};
}

template <class T>
T narrowed(float value) noexcept;
template <>
inline Half narrowed(float value) noexcept {
  return narrowed_to_half(value);
}
template <>
inline BFloat16 narrowed(float value) noexcept {
  return narrowed_to_bfloat16(value);
}

}  // namespace ddpkit
