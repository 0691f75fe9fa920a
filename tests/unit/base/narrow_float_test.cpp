#include "base/narrow_float.hpp"

#include <cmath>

#include "support/catch.hpp"

using namespace ddpkit;

namespace {

// The compiler's own type is the reference.
std::uint16_t half_of(float value) {
  return std::bit_cast<std::uint16_t>(static_cast<_Float16>(value));
}

// By the definition of the format: of the two neighbours, the nearer one or the even one.
std::uint16_t bfloat16_of(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const double low = std::bit_cast<float>(bits & 0xffff0000U);
  const double step = std::ldexp(1.0, std::max(std::ilogb(low == 0 ? 0x1p-126 : low), -126) - 7);
  const double rest = (std::abs(static_cast<double>(value)) - std::abs(low)) / step;
  const bool up = rest > 0.5 || (rest == 0.5 && (bits >> 16 & 1U) == 1);
  return static_cast<std::uint16_t>((bits >> 16) + (up ? 1 : 0));
}

template <class Check>
void for_floats(const Check& check) {
  for (std::uint64_t bits = 0; bits < 0x1'0000'0000; bits += 4099)
    check(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  for (std::uint64_t upper = 0; upper < 0x1'0000'0000; upper += 0x1000)  // around each halfway case
    for (const std::uint32_t lower : {0x000U, 0x001U, 0xfffU})
      check(std::bit_cast<float>(static_cast<std::uint32_t>(upper) | lower));
}

}  // namespace

TEST_CASE("every half becomes the float that it is") {
  int wrong = 0;
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto narrow = static_cast<std::uint16_t>(bits);
    const auto expected = static_cast<float>(std::bit_cast<_Float16>(narrow));
    const float wide = widened(Half{narrow});
    const bool same = std::bit_cast<std::uint32_t>(wide) == std::bit_cast<std::uint32_t>(expected);
    wrong += same || (std::isnan(wide) && std::isnan(expected)) ? 0 : 1;
  }
  CHECK(wrong == 0);
}

TEST_CASE("floats of every size go to the nearest half, halfway cases to the even one, NaN to NaN") {
  int wrong = 0;
  for_floats([&](float value) {
    const Half narrow = nearest_half(value);
    wrong += (std::isnan(value) ? std::isnan(widened(narrow)) : narrow.bits == half_of(value)) ? 0 : 1;
  });
  CHECK(wrong == 0);
}

TEST_CASE("floats of every size go to the nearest bfloat16, halfway cases to the even one, NaN to NaN") {
  int wrong = 0;
  for_floats([&](float value) {
    const BFloat16 narrow = nearest_bfloat16(value);
    if (std::isnan(value) || std::isinf(value))
      wrong += std::isnan(widened(narrow)) == std::isnan(value) ? 0 : 1;
    else
      wrong += narrow.bits == bfloat16_of(value) ? 0 : 1;
  });
  CHECK(wrong == 0);
}
