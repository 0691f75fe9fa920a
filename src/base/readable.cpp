#include "ddpkit/base/readable.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <span>
#include <string_view>
#include <utility>

#include "ddpkit/base/text.hpp"

namespace ddpkit {
namespace {

constexpr int kDigits = 3;

using Unit = std::pair<double, std::string_view>;

constexpr auto kTimes = std::to_array<Unit>(
    {{1e-9, " ns"}, {1e-6, " us"}, {1e-3, " ms"}, {1, " s"}, {60, " min"}, {3600, " h"}, {86400, " days"}});

constexpr auto kSizes = std::to_array<Unit>(
    {{1, " B"}, {1 << 10, " KiB"}, {1 << 20, " MiB"}, {1 << 30, " GiB"}, {1LL << 40, " TiB"}, {1LL << 50, " PiB"}});

double rounded(double number) {
  if (number == 0) return 0;
  const double scale = std::pow(10.0, kDigits - 1 - std::floor(std::log10(std::abs(number))));
  return std::isfinite(scale) ? std::round(number * scale) / scale : 0;
}

/// In the largest unit of which there is one at least.
std::string in_unit(double amount, std::span<const Unit> units) {
  if (!std::isfinite(amount)) return readable(amount);
  std::size_t unit = 0;
  while (unit + 1 < units.size() && rounded(std::abs(amount) / units[unit + 1].first) >= 1) ++unit;
  return text(readable(amount / units[unit].first), units[unit].second);
}

}  // namespace

std::string with_thousands(std::int64_t number) {
  std::string digits = text(number);
  const std::size_t first = number < 0 ? 1 : 0;
  for (std::size_t i = digits.size(); i > first + 3;) digits.insert(i -= 3, ",");
  return digits;
}

std::string readable(double number) {
  if (std::isnan(number)) return "not known";
  if (std::isinf(number)) return number < 0 ? "-infinite" : "infinite";
  const double value = rounded(number);
  if (std::abs(value) >= 100 && std::abs(value) < 1e15) return with_thousands(std::llround(value));
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::general, kDigits).ptr;
  return {buffer, end};
}

std::string readable_seconds(double seconds) {
  return seconds == 0 ? "0 s" : in_unit(seconds, kTimes);
}

std::string readable_bytes(double bytes) {
  return in_unit(bytes, kSizes);
}

std::string readable_percent(double share) {
  const double percent = 100 * share;
  if (!std::isfinite(percent)) return readable(percent);
  return text(std::abs(percent) < 0.95 ? readable(percent) : with_thousands(std::llround(percent)), " %");
}

}  // namespace ddpkit
