#pragma once

#include <CLI/CLI.hpp>
#include <concepts>
#include <optional>
#include <string>
#include <vector>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/fields.hpp"
#include "ddpkit/base/printable.hpp"
#include "ddpkit/base/text.hpp"

// Options of a verb, written as in run files: sizes as 2GiB, stretches as "5 epochs", enumerators by name.

namespace ddpkit::tool {

/// Throws UsageError that names the option and what it expects.
template <class T>
T read_option(const std::string& option, const std::string& typed) {
  T value{};
  if (const std::string expected = parse_scalar(typed, value); !expected.empty())
    throw UsageError(text(option, ": expected ", expected, ", got ", printable(typed)));
  return value;
}

template <NamedEnum E>
E read_option(const std::string& option, const std::string& typed) {
  std::string names;
  for (const auto& [value, name] : enum_names(E{})) {
    if (typed == name) return value;
    names.append(names.empty() ? "" : ", ").append(name);
  }
  throw UsageError(text(option, ": expected one of ", names, ", got ", printable(typed)));
}

/// What stands for a value in the help.
template <class T>
constexpr const char* placeholder() {
  if constexpr (std::same_as<T, Bytes>) return "SIZE";
  if constexpr (std::same_as<T, Extent>) return "STRETCH";
  if constexpr (NamedEnum<T>) return "NAME";
  return "NUMBER";
}

/// Adds an option that fills `value`, which must outlive the command.
template <class T>
CLI::Option* add_option(CLI::App& command, const std::string& option, std::optional<T>& value, const std::string& help) {
  const auto take = [option, &value](const std::string& typed) { value = read_option<T>(option, typed); };
  return command.add_option_function<std::string>(option, take, help)->type_name(placeholder<T>());
}

}  // namespace ddpkit::tool
