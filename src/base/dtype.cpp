#include "ddpkit/base/dtype.hpp"

#include "base/narrow_float.hpp"

namespace ddpkit {

float to_float(Half value) noexcept {
  return widened(value);
}

Half to_half(float value) noexcept {
  return nearest_half(value);
}

BFloat16 to_bfloat16(float value) noexcept {
  return nearest_bfloat16(value);
}

}  // namespace ddpkit
