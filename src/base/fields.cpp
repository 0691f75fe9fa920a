#include "ddpkit/base/fields.hpp"

#include <charconv>
#include <cmath>
#include <concepts>
#include <system_error>

#include "base/number_text.hpp"

namespace ddpkit {
namespace {

constexpr double kLargestWhole = 9007199254740992.0;  // 2^53: above it doubles skip integers

bool has_exponent(std::string_view text) {
  return text.find_first_of("eE") != std::string_view::npos;
}

}  // namespace

bool has_leading_zeros(std::string_view text) {
  if (!text.empty() && text.front() == '-') text.remove_prefix(1);
  return text.size() > 1 && text[0] == '0' && text[1] >= '0' && text[1] <= '9';
}

std::string parse_scalar(std::string_view text, bool& value) {
  if (text != "true" && text != "false") return "true or false";
  value = text == "true";
  return {};
}

std::string parse_scalar(std::string_view text, std::int64_t& value) {
  if (has_leading_zeros(text)) return "a whole number without leading zeros";
  std::int64_t whole = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), whole);
  if (error == std::errc::result_out_of_range) return "a whole number of at most 64 bits";
  if (error == std::errc() && end == text.data() + text.size()) {
    value = whole;
    return {};
  }
  double number = 0;
  const bool readable = has_exponent(text) && parse_scalar(text, number).empty();
  if (!readable || std::trunc(number) != number || std::abs(number) > kLargestWhole) return "a whole number";
  value = static_cast<std::int64_t>(number);
  return {};
}

std::string parse_scalar(std::string_view text, double& value) {
  if (has_leading_zeros(text)) return "a number without leading zeros";
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc::result_out_of_range) return "a number that fits into 64 bits";
  if (error != std::errc() || end != text.data() + text.size()) return "a number";
  if (!std::isfinite(number)) return "a finite number";
  value = number;
  return {};
}

std::string parse_scalar(std::string_view text, std::string& value) {
  value = text;
  return {};
}

std::string format_scalar(bool value) {
  return value ? "true" : "false";
}

std::string format_scalar(std::int64_t value) {
  return std::to_string(value);
}

std::string format_scalar(double value) {
  char digits[32];  // the shortest form that reads back has at most 24 characters
  const auto end = std::to_chars(std::begin(digits), std::end(digits), value).ptr;
  return {std::begin(digits), end};
}

std::string format_scalar(const std::string& value) {
  return value;
}

}  // namespace ddpkit
