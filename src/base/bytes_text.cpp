#include "ddpkit/base/bytes_text.hpp"

#include <array>
#include <charconv>
#include <cmath>

namespace ddpkit {
namespace {

constexpr std::array kUnits = {" B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"};

/// Three significant digits of a number below 1024, without zeros at the end of a fraction.
std::string three_digits(double number) {
  const double size = std::abs(number);
  const int decimals = size < 9.995 ? 2 : size < 99.95 ? 1 : 0;
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number, std::chars_format::fixed, decimals).ptr;
  std::string shown(digits.data(), end);
  if (decimals > 0) shown.erase(shown.find_last_not_of('0') + 1);
  if (shown.back() == '.') shown.pop_back();
  return shown;
}

}  // namespace

std::string bytes_text(std::int64_t bytes) {
  auto amount = static_cast<double>(bytes);
  std::size_t unit = 0;
  // 1023.5 is where rounding would show 1024 of a unit instead of 1 of the next.
  while (std::abs(amount) >= 1023.5 && unit + 1 < kUnits.size()) {
    amount /= 1024;
    ++unit;
  }
  return three_digits(amount) + kUnits.at(unit);
}

}  // namespace ddpkit
