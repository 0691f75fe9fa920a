#include "ddpkit/base/figures.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

namespace ddpkit {
namespace {

constexpr int kDigits = 3;

std::string digits(double value, std::chars_format format, int precision) {
  std::array<char, 400> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, format, precision).ptr;
  return {buffer.data(), end};
}

std::string with_groups(std::string number) {
  const std::size_t first = number.starts_with('-') ? 1 : 0;
  const std::size_t whole = std::min(number.find('.'), number.size());
  for (std::size_t at = whole; at > first + 3; at -= 3) number.insert(at - 3, 1, ',');
  return number;
}

std::string without_idle_zeros(std::string number) {
  if (number.find('.') == std::string::npos) return number;
  number.erase(number.find_last_not_of('0') + 1);
  if (number.ends_with('.')) number.pop_back();
  return number;
}

// Rounded to the digits that are shown, so that 999.7 is the "1,000" of the next unit and not of this one.
double rounded(double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  const double unit = std::pow(10, std::floor(std::log10(std::abs(value))) - kDigits + 1);
  return std::round(value / unit) * unit;
}

template <std::size_t N>
std::string with_unit(double value, double factor, const std::array<std::string_view, N>& units) {
  std::size_t unit = 0;
  while (unit + 1 < N && std::max(std::abs(value), std::abs(rounded(value))) >= factor) {
    value /= factor;
    ++unit;
  }
  return figure(value) + ' ' + std::string(units[unit]);
}

}  // namespace

std::string grouped(std::int64_t count) {
  return with_groups(std::to_string(count));
}

std::string figure(double value) {
  const double shown = rounded(value), size = std::abs(shown);
  if (!std::isfinite(value)) return digits(value, std::chars_format::general, kDigits);
  if (size != 0 && (size < 1e-4 || size >= 1e7)) return digits(value, std::chars_format::general, kDigits);
  const int magnitude = size == 0 ? 0 : static_cast<int>(std::floor(std::log10(size) + 1e-9));
  const int decimals = std::max(0, kDigits - 1 - magnitude);
  return with_groups(without_idle_zeros(digits(shown == 0 ? 0.0 : shown, std::chars_format::fixed, decimals)));
}

std::string fixed_figure(double value, int decimals) {
  return std::isfinite(value) ? with_groups(digits(value, std::chars_format::fixed, decimals)) : figure(value);
}

std::string bytes_figure(double bytes) {
  return with_unit(bytes, 1024, std::to_array<std::string_view>({"B", "KiB", "MiB", "GiB", "TiB"}));
}

std::string seconds_figure(double seconds) {
  if (std::abs(rounded(seconds)) >= 100) return with_groups(digits(seconds, std::chars_format::fixed, 0)) + " s";
  return with_unit(seconds * 1e9, 1000, std::to_array<std::string_view>({"ns", "us", "ms", "s"}));
}

std::string percent_figure(double share) {
  const double percent = 100 * share;
  if (!std::isfinite(percent)) return figure(percent) + " %";
  const int decimals = std::abs(percent) >= 9.95 ? 0 : 1;
  std::string number = without_idle_zeros(digits(percent, std::chars_format::fixed, decimals));
  if (number == "-0") number = "0";
  return with_groups(std::move(number)) + " %";
}

}  // namespace ddpkit
