#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ddpkit {

/// Element types that buffers, files and collectives know.
enum class DType : std::uint8_t { float32, float64, float16, bfloat16, int32, int64, uint8 };

/// Size of one element in bytes.
constexpr std::size_t size_of(DType type) noexcept {
  switch (type) {
    case DType::float64:
    case DType::int64: return 8;
    case DType::float32:
    case DType::int32: return 4;
    case DType::float16:
    case DType::bfloat16: return 2;
    case DType::uint8: return 1;
  }
  return 0;
}

/// "float32" and so on, as NumPy names them.
constexpr std::string_view name_of(DType type) noexcept {
  switch (type) {
    case DType::float32: return "float32";
    case DType::float64: return "float64";
    case DType::float16: return "float16";
    case DType::bfloat16: return "bfloat16";
    case DType::int32: return "int32";
    case DType::int64: return "int64";
    case DType::uint8: return "uint8";
  }
  return "?";
}

constexpr bool is_floating(DType type) noexcept {
  return type <= DType::bfloat16;
}

/// IEEE half precision as bits; arithmetic is done in float.
struct Half {
  std::uint16_t bits = 0;
};

/// The upper half of a float as bits; arithmetic is done in float.
struct BFloat16 {
  std::uint16_t bits = 0;
};

/// Conversions round to nearest, ties to even.
float to_float(Half value) noexcept;
Half to_half(float value) noexcept;
constexpr float to_float(BFloat16 value) noexcept {
  return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16);
}
BFloat16 to_bfloat16(float value) noexcept;

namespace detail {
template <class T>
struct DTypeOf;
template <>
struct DTypeOf<float> {
  static constexpr DType value = DType::float32;
};
template <>
struct DTypeOf<double> {
  static constexpr DType value = DType::float64;
};
template <>
struct DTypeOf<Half> {
  static constexpr DType value = DType::float16;
};
template <>
struct DTypeOf<BFloat16> {
  static constexpr DType value = DType::bfloat16;
};
template <>
struct DTypeOf<std::int32_t> {
  static constexpr DType value = DType::int32;
};
template <>
struct DTypeOf<std::int64_t> {
  static constexpr DType value = DType::int64;
};
template <>
struct DTypeOf<std::uint8_t> {
  static constexpr DType value = DType::uint8;
};
}  // namespace detail

/// A C++ type that stands for a DType.
template <class T>
concept Element = requires {
  detail::DTypeOf<T>::value;
};

template <Element T>
inline constexpr DType dtype_of = detail::DTypeOf<T>::value;

}  // namespace ddpkit
