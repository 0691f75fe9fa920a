#include "ddpkit/base/dtype.hpp"

#include <cmath>
#include <limits>

#include "support/catch.hpp"

using namespace ddpkit;

namespace {

Half half(unsigned bits) {
  return {static_cast<std::uint16_t>(bits)};
}

BFloat16 brain(unsigned bits) {
  return {static_cast<std::uint16_t>(bits)};
}

// Finite halves by the definition of the format, without the compiler's own conversion.
double value_of_half(unsigned bits) {
  const int exponent = static_cast<int>((bits >> 10) & 31);
  const int fraction = static_cast<int>(bits & 1023);
  const double magnitude = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

}  // namespace

TEST_CASE("every finite half has the value its bits define and comes back unchanged") {
  int wrong = 0;
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const float value = to_float(half(bits));
    if (std::isnan(value)) {
      wrong += std::isnan(to_float(to_half(value))) ? 0 : 1;
      continue;
    }
    wrong += to_half(value).bits == bits ? 0 : 1;
    if (std::isfinite(value)) wrong += static_cast<double>(value) == value_of_half(bits) ? 0 : 1;
  }
  CHECK(wrong == 0);
}

TEST_CASE("every bfloat16 comes back unchanged from float") {
  int wrong = 0;
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const float value = to_float(brain(bits));
    const BFloat16 back = to_bfloat16(value);
    wrong += (std::isnan(value) ? std::isnan(to_float(back)) : back.bits == bits) ? 0 : 1;
  }
  CHECK(wrong == 0);
}

TEST_CASE("a float between two halves goes to the nearer, and to the even one from the middle") {
  int wrong = 0;
  for (unsigned bits = 0; bits < 0x7bff; ++bits) {
    const float low = to_float(half(bits)), high = to_float(half(bits + 1));
    const float middle = (low + high) / 2;  // exact in float
    const unsigned even = bits % 2 == 0 ? bits : bits + 1;
    wrong += to_half(middle).bits == even ? 0 : 1;
    wrong += to_half(std::nextafter(middle, 0.0F)).bits == bits ? 0 : 1;
    wrong += to_half(std::nextafter(middle, 1e6F)).bits == bits + 1 ? 0 : 1;
  }
  CHECK(wrong == 0);
}

TEST_CASE("a float between two bfloat16 goes to the nearer, and to the even one from the middle") {
  int wrong = 0;
  for (unsigned bits = 0; bits < 0x7f7f; ++bits) {
    const float middle = std::bit_cast<float>((bits << 16) | 0x8000U);
    const unsigned even = bits % 2 == 0 ? bits : bits + 1;
    wrong += to_bfloat16(middle).bits == even ? 0 : 1;
    wrong += to_bfloat16(std::bit_cast<float>((bits << 16) | 0x7fffU)).bits == bits ? 0 : 1;
    wrong += to_bfloat16(std::bit_cast<float>((bits << 16) | 0x8001U)).bits == bits + 1 ? 0 : 1;
  }
  CHECK(wrong == 0);
}

TEST_CASE("what is too large for sixteen bits becomes an infinity and NaN stays NaN") {
  constexpr float kMax = std::numeric_limits<float>::max();
  CHECK(std::isinf(to_float(to_half(65520.0F))));
  CHECK(to_float(to_half(65519.0F)) == 65504.0F);
  CHECK(std::isinf(to_float(to_bfloat16(kMax))));
  CHECK(std::isnan(to_float(to_bfloat16(std::bit_cast<float>(0x7f800001U)))));
  CHECK(std::isnan(to_float(to_half(std::numeric_limits<float>::quiet_NaN()))));
}

TEST_CASE("every type knows its size and its name in NumPy") {
  CHECK(size_of(DType::float16) == 2);
  CHECK(size_of(DType::int64) == 8);
  CHECK(size_of(dtype_of<BFloat16>) == sizeof(BFloat16));
  CHECK(size_of(dtype_of<std::uint8_t>) == 1);
  CHECK(name_of(DType::bfloat16) == "bfloat16");
  CHECK(is_floating(DType::bfloat16));
  CHECK_FALSE(is_floating(DType::int32));
}
