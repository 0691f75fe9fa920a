#include "comm/element.hpp"

#include <cstring>
#include <type_traits>

#include "base/narrow_float.hpp"
#include "base/vector_width.hpp"

namespace ddpkit {
namespace {

template <class T>
constexpr bool is_16_bit_float = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

template <class T>
[[gnu::always_inline]] inline void widen_all(const T* __restrict from, std::size_t count, float* __restrict to) {
  for (std::size_t i = 0; i < count; ++i) to[i] = widened(from[i]);
}

template <class T>
[[gnu::always_inline]] inline void narrow_all(const float* __restrict from, std::size_t count, T* __restrict to) {
  for (std::size_t i = 0; i < count; ++i) to[i] = narrowed<T>(from[i]);
}

template <class T>
DDPKIT_TARGET_AVX2 void widen_avx2(const T* from, std::size_t count, float* to) {
  widen_all(from, count, to);
}

template <class T>
DDPKIT_TARGET_AVX2 void narrow_avx2(const float* from, std::size_t count, T* to) {
  narrow_all(from, count, to);
}

}  // namespace

void widen(const void* from, DType dtype, std::size_t count, void* to) {
  if (count == 0) return;
  with_element(dtype, [&]<class T>() {
    if constexpr (is_16_bit_float<T>) {
      const auto convert = vector_width() == VectorWidth::basic ? widen_all<T> : widen_avx2<T>;
      convert(static_cast<const T*>(from), count, static_cast<float*>(to));
    } else {
      std::memcpy(to, from, count * sizeof(T));
    }
  });
}

void narrow(const void* from, DType dtype, std::size_t count, void* to) {
  if (count == 0) return;
  with_element(dtype, [&]<class T>() {
    if constexpr (is_16_bit_float<T>) {
      const auto convert = vector_width() == VectorWidth::basic ? narrow_all<T> : narrow_avx2<T>;
      convert(static_cast<const float*>(from), count, static_cast<T*>(to));
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
