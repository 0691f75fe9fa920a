#pragma once

#include <array>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ddpkit/base/quantity.hpp"

// How an options struct tells its fields, once, for the YAML reader, the writer, --set, the JSON Schema and the options page:
//
//   enum class Tail { drop, pad, partial };
//   constexpr auto enum_names(Tail) {
//     return std::to_array<std::pair<Tail, std::string_view>>({{Tail::drop, "drop"}, {Tail::pad, "pad"}, ...});
//   }
//
//   struct LoaderOptions {
//     Tail tail = Tail::drop;
//     Bytes prefetch = {64 << 20};
//   };
//   template <class Visitor>
//   void visit_fields(Visitor& visit, LoaderOptions& options) {
//     visit("tail", options.tail, "what happens to samples that do not fill the last window");
//     visit("prefetch", options.prefetch, "memory for batches gathered ahead of use", at_least(1));
//   }
//
// A field is one of: bool, std::int64_t, double, std::string, Bytes, Extent, std::chrono::milliseconds, an enum with
// `enum_names`, a struct with `visit_fields` (a section), a std::vector of any of these, or a std::optional of a scalar, whose
// empty state is written "auto".

namespace ddpkit {

/// Numbers a field accepts, both ends included; for Bytes and durations in bytes and milliseconds.
struct Range {
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  bool above_min = false;  ///< `min` itself is excluded

  constexpr bool contains(double x) const { return (above_min ? x > min : x >= min) && x <= max; }
};

constexpr Range at_least(double min) {
  return {.min = min};
}
constexpr Range above(double min) {
  return {.min = min, .above_min = true};
}
constexpr Range between(double min, double max) {
  return {.min = min, .max = max};
}

/// An enum that has names in files.
template <class T>
concept NamedEnum = std::is_enum_v<T> && requires(T value) {
  enum_names(value);
};

namespace detail {
struct AnyVisitor {
  template <class T>
  void operator()(std::string_view, T&, std::string_view, Range = {}) {}
};
template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};
template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};
}  // namespace detail

/// A struct with fields: a section of the file.
template <class T>
concept FieldStruct = requires(detail::AnyVisitor& visitor, T& value) {
  visit_fields(visitor, value);
};

/// The name of an enumerator.
template <NamedEnum E>
constexpr std::string_view name_of(E value) {
  for (const auto& [candidate, name] : enum_names(value))
    if (candidate == value) return name;
  return "?";
}

/// Reads one scalar as it is written in a file. Returns an empty string, or what was expected ("a size such as 25MiB").
/// Leaves `value` alone on failure. Numbers are decimal only: no octal, no infinities, no unit left out.
std::string parse_scalar(std::string_view text, bool& value);
std::string parse_scalar(std::string_view text, std::int64_t& value);  // accepts 1e3 when it is whole
std::string parse_scalar(std::string_view text, double& value);
std::string parse_scalar(std::string_view text, std::string& value);
std::string parse_scalar(std::string_view text, Bytes& value);
std::string parse_scalar(std::string_view text, Extent& value);
std::string parse_scalar(std::string_view text, std::chrono::milliseconds& value);  // "120s", "500ms", "2m", "1h"

/// The inverse: `parse_scalar(format_scalar(x))` gives `x` back, doubles to the last bit.
std::string format_scalar(bool value);
std::string format_scalar(std::int64_t value);
std::string format_scalar(double value);
std::string format_scalar(const std::string& value);
std::string format_scalar(Bytes value);
std::string format_scalar(Extent value);
std::string format_scalar(std::chrono::milliseconds value);

}  // namespace ddpkit
