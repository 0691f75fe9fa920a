#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "ddpkit/base/fields.hpp"
#include "ddpkit/base/text.hpp"

// What is the same for reading and for describing a field that holds one value.

namespace ddpkit {

enum class FieldKind { boolean, integer, number, string, bytes, extent, duration, choice, section, list, user };

template <class T>
constexpr FieldKind kind_of() {
  if constexpr (NamedEnum<T>) return FieldKind::choice;
  if constexpr (std::is_same_v<T, bool>) return FieldKind::boolean;
  if constexpr (std::is_same_v<T, std::int64_t>) return FieldKind::integer;
  if constexpr (std::is_same_v<T, double>) return FieldKind::number;
  if constexpr (std::is_same_v<T, std::string>) return FieldKind::string;
  if constexpr (std::is_same_v<T, Bytes>) return FieldKind::bytes;
  if constexpr (std::is_same_v<T, Extent>) return FieldKind::extent;
  if constexpr (std::is_same_v<T, std::chrono::milliseconds>) return FieldKind::duration;
}

/// Whether a quoted value of this kind was meant as text and is therefore refused.
constexpr bool is_bare(FieldKind kind) {
  return kind == FieldKind::boolean || kind == FieldKind::integer || kind == FieldKind::number;
}

/// "a whole number", "a size".
std::string_view noun_of(FieldKind kind);

/// One end of a range in the field's own unit: "25", "1MiB", "500ms".
std::string format_limit(FieldKind kind, double limit);

/// " from 1 to 256", " of at least 1", " above 0"; empty for a range without ends.
std::string range_text(FieldKind kind, const Range& range);

template <class T>
double as_number(const T& value) {
  if constexpr (std::is_same_v<T, Bytes>) return static_cast<double>(value.count);
  if constexpr (std::is_same_v<T, Extent>) return value.amount;
  if constexpr (std::is_same_v<T, std::chrono::milliseconds>) return static_cast<double>(value.count());
  if constexpr (std::is_arithmetic_v<T>) return static_cast<double>(value);
}

template <NamedEnum E>
std::string parse_choice(std::string_view text, E& value) {
  std::string expected = "one of ";
  for (const auto& [candidate, name] : enum_names(value)) {
    if (name == text) {
      value = candidate;
      return {};
    }
    expected.append(expected.size() > 7 ? ", " : "").append(name);
  }
  return expected;
}

/// Reads `text` into `value` when it is of the right type and within `range`. Otherwise leaves `value` alone and returns what
/// was expected.
template <class T>
std::string assign_scalar(std::string_view text, T& value, const Range& range) {
  if constexpr (NamedEnum<T>) {
    return parse_choice(text, value);
  } else if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, bool>) {
    return parse_scalar(text, value);
  } else {
    T parsed{};
    const std::string expected = parse_scalar(text, parsed);
    if (!expected.empty()) return is_bare(kind_of<T>()) ? expected + range_text(kind_of<T>(), range) : expected;
    if (!range.contains(as_number(parsed))) return std::string(noun_of(kind_of<T>())) + range_text(kind_of<T>(), range);
    value = parsed;
    return {};
  }
}

template <class T>
std::string assign_scalar(std::string_view text, std::optional<T>& value, const Range& range) {
  T inner{};
  const std::string expected = text == "auto" ? std::string() : assign_scalar(text, inner, range);
  if (!expected.empty()) return expected + " or auto";
  value = text == "auto" ? std::optional<T>() : std::optional<T>(inner);
  return {};
}

template <class T>
std::string format_field(const T& value) {
  if constexpr (NamedEnum<T>)
    return std::string(name_of(value));
  else
    return format_scalar(value);
}

template <class T>
std::string format_field(const std::optional<T>& value) {
  return value ? format_field(*value) : "auto";
}

}  // namespace ddpkit
