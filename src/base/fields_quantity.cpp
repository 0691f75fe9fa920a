// Scalars with a unit: sizes, stretches of training, durations.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <span>

#include "base/number_text.hpp"
#include "ddpkit/base/fields.hpp"

namespace ddpkit {
namespace {

constexpr char kSizeExpected[] = "a size such as 25MiB (units: B, KiB, MiB, GiB, TiB)";
constexpr char kExtentExpected[] = "a stretch such as '500 steps', '5 epochs', '5%' or 0";
constexpr char kDurationExpected[] = "a duration such as 120s (units: ms, s, m, h)";

struct Unit {
  std::string_view name;
  std::int64_t factor;
};

// Largest first: the writer takes the first that divides.
constexpr std::array kSizeUnits{Unit{"TiB", std::int64_t{1} << 40}, Unit{"GiB", std::int64_t{1} << 30},
                                Unit{"MiB", std::int64_t{1} << 20}, Unit{"KiB", std::int64_t{1} << 10}, Unit{"B", 1}};
constexpr std::array kDurationUnits{Unit{"h", 3600000}, Unit{"m", 60000}, Unit{"s", 1000}, Unit{"ms", 1}};

struct Quantity {
  double amount = 0;
  std::string_view unit;
};

std::optional<Quantity> split_quantity(std::string_view text) {
  Quantity quantity;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), quantity.amount, std::chars_format::fixed);
  if (error != std::errc() || !std::isfinite(quantity.amount) || has_leading_zeros(text)) return std::nullopt;
  quantity.unit = text.substr(static_cast<std::size_t>(end - text.data()));
  if (!quantity.unit.empty() && quantity.unit.front() == ' ') quantity.unit.remove_prefix(1);
  return quantity;
}

// Nothing when the text is no quantity, its unit is unknown, or the result is not a whole number below 2^63.
std::optional<std::int64_t> whole_multiple(std::string_view text, std::span<const Unit> units) {
  const auto quantity = split_quantity(text);
  if (!quantity) return std::nullopt;
  const auto unit = std::find_if(units.begin(), units.end(), [&](const Unit& u) { return u.name == quantity->unit; });
  if (unit == units.end()) return std::nullopt;
  std::int64_t whole = 0;  // exact where a double would round
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), whole);
  const bool fraction = parsed.ptr != text.data() + text.size() && *parsed.ptr == '.';
  if (!fraction) {
    std::int64_t product = 0;
    if (parsed.ec != std::errc() || __builtin_mul_overflow(whole, unit->factor, &product)) return std::nullopt;
    return product;
  }
  const double product = quantity->amount * static_cast<double>(unit->factor);
  if (std::trunc(product) != product || std::abs(product) > 0x1p53) return std::nullopt;
  return static_cast<std::int64_t>(product);
}

std::string with_largest_unit(std::int64_t amount, std::span<const Unit> units) {
  for (const Unit& unit : units) {
    if (amount != 0 && amount % unit.factor == 0) return std::to_string(amount / unit.factor).append(unit.name);
  }
  return "0" + std::string(units.back().name);
}

// Fixed notation only, so that "1e+20 steps" never has to be read.
std::string fixed(double amount) {
  std::array<char, 400> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), amount, std::chars_format::fixed).ptr;
  return {digits.data(), end};
}

}  // namespace

std::string parse_scalar(std::string_view text, Bytes& value) {
  const auto count = whole_multiple(text, kSizeUnits);
  if (!count) return kSizeExpected;
  value.count = *count;
  return {};
}

std::string parse_scalar(std::string_view text, Extent& value) {
  const auto quantity = split_quantity(text);
  if (!quantity) return kExtentExpected;
  const auto [amount, unit] = *quantity;
  if (unit == "steps" || unit == "step") {
    if (std::trunc(amount) != amount) return "whole steps";
    value = {amount, Extent::Unit::steps};
  } else if (unit == "epochs" || unit == "epoch") {
    value = {amount, Extent::Unit::epochs};
  } else if (unit == "%") {
    if (amount > 100) return "at most 100%";
    value = {amount, Extent::Unit::percent};
  } else if (unit.empty() && amount == 0) {
    value = {};
  } else {
    return kExtentExpected;
  }
  return {};
}

std::string parse_scalar(std::string_view text, std::chrono::milliseconds& value) {
  const auto count = whole_multiple(text, kDurationUnits);
  if (!count) return kDurationExpected;
  value = std::chrono::milliseconds(*count);
  return {};
}

std::string format_scalar(Bytes value) {
  return with_largest_unit(value.count, kSizeUnits);
}

std::string format_scalar(Extent value) {
  const std::string amount = fixed(value.amount);
  const std::string_view ending = value.amount == 1 ? "" : "s";
  switch (value.unit) {
    case Extent::Unit::percent: return amount + "%";
    case Extent::Unit::epochs: return amount + " epoch" + std::string(ending);
    case Extent::Unit::steps: break;
  }
  return value.amount == 0 ? "0" : amount + " step" + std::string(ending);
}

// Below ten minutes people say 120s, not 2m.
std::string format_scalar(std::chrono::milliseconds value) {
  const std::span<const Unit> all = kDurationUnits;
  const bool short_one = std::chrono::abs(value) < std::chrono::minutes(10);
  return with_largest_unit(value.count(), short_one ? all.subspan(2) : all);
}

}  // namespace ddpkit
