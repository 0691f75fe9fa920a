#include "comm/half_conversion.hpp"

#include "support/catch.hpp"

namespace ddpkit {
namespace {

std::uint32_t bits_of(float value) {
  return std::bit_cast<std::uint32_t>(value);
}

TEST_CASE("every 16-bit float becomes the same float as one by one") {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const Half half{static_cast<std::uint16_t>(bits)};
    if (bits_of(widened(half)) != bits_of(to_float(half))) FAIL("half " << bits);
  }
}

TEST_CASE("floats of every size, halfway cases, infinities and NaN are rounded as one by one") {
  const auto check = [](std::uint32_t bits) {
    const float value = std::bit_cast<float>(bits);
    if (narrowed_to_half(value).bits != to_half(value).bits) FAIL("to half " << bits);
    if (narrowed_to_bfloat16(value).bits != to_bfloat16(value).bits) FAIL("to bfloat16 " << bits);
  };
  for (std::uint64_t bits = 0; bits < 0x1'0000'0000; bits += 1009) check(static_cast<std::uint32_t>(bits));
  for (std::uint64_t upper = 0; upper < 0x1'0000'0000; upper += 0x1000)  // around each halfway case
    for (const std::uint32_t lower : {0x000U, 0x001U, 0xfffU}) check(static_cast<std::uint32_t>(upper) | lower);
}

}  // namespace
}  // namespace ddpkit
