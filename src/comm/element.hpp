#pragma once

#include "ddpkit/base/dtype.hpp"

namespace ddpkit {

/// Calls `body.template operator()<T>()` with the C++ type of `dtype`: `with_element(dtype, [&]<class T>() { ... })`.
template <class Body>
decltype(auto) with_element(DType dtype, Body&& body) {
  switch (dtype) {
    case DType::float64: return body.template operator()<double>();
    case DType::float16: return body.template operator()<Half>();
    case DType::bfloat16: return body.template operator()<BFloat16>();
    case DType::int32: return body.template operator()<std::int32_t>();
    case DType::int64: return body.template operator()<std::int64_t>();
    case DType::uint8: return body.template operator()<std::uint8_t>();
    case DType::float32: break;
  }
  return body.template operator()<float>();
}

/// In which type elements of `dtype` are added: 16-bit floats in float32, everything else in itself.
constexpr DType sum_type(DType dtype) noexcept {
  return size_of(dtype) == 2 ? DType::float32 : dtype;
}

/// Writes `count` elements of `dtype` as elements of `sum_type(dtype)`.
void widen(const void* from, DType dtype, std::size_t count, void* to);

/// The way back, rounded once.
void narrow(const void* from, DType dtype, std::size_t count, void* to);

/// Divides floating-point elements in place.
void divide(void* data, DType dtype, std::size_t count, int divisor);

}  // namespace ddpkit
