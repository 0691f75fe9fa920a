#include "comm/element.hpp"

#include <cstring>
#include <type_traits>

namespace ddpkit {
namespace {

template <class T>
constexpr bool is_16_bit_float = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

template <class T>
T from_float(float value) {
  if constexpr (std::is_same_v<T, Half>)
    return to_half(value);
  else
    return to_bfloat16(value);
}

}  // namespace

void widen(const void* from, DType dtype, std::size_t count, void* to) {
  if (count == 0) return;
  with_element(dtype, [&]<class T>() {
    if constexpr (is_16_bit_float<T>) {
      const auto* narrow = static_cast<const T*>(from);
      auto* wide = static_cast<float*>(to);
      for (std::size_t i = 0; i < count; ++i) wide[i] = to_float(narrow[i]);
    } else {
      std::memcpy(to, from, count * sizeof(T));
    }
  });
}

void narrow(const void* from, DType dtype, std::size_t count, void* to) {
  if (count == 0) return;
  with_element(dtype, [&]<class T>() {
    if constexpr (is_16_bit_float<T>) {
      const auto* wide = static_cast<const float*>(from);
      auto* narrow = static_cast<T*>(to);
      for (std::size_t i = 0; i < count; ++i) narrow[i] = from_float<T>(wide[i]);
    } else {
      std::memcpy(to, from, count * sizeof(T));
    }
  });
}

void divide(void* data, DType dtype, std::size_t count, int divisor) {
  with_element(dtype, [&]<class T>() {
    if constexpr (std::is_floating_point_v<T>) {
      auto* elements = static_cast<T*>(data);
      for (std::size_t i = 0; i < count; ++i) elements[i] /= static_cast<T>(divisor);
    }
  });
}

}  // namespace ddpkit
