#pragma once

#include <concepts>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace ddpkit {

/// Section `user`: single values under names that the program makes up, read by type where they are used:
/// `const std::int64_t hidden = config.user("hidden", 256);`
class UserSettings {
 public:
  struct Value {
    std::string text;
    std::string origin;  ///< where it was given; no part of equality
    friend bool operator==(const Value& a, const Value& b) { return a.text == b.text; }
  };

  /// The setting `name`, or `fallback` when nobody gave it; the type is the fallback's. Throws ConfigError that names the place
  /// when the text is of another type.
  template <std::same_as<bool> T>
  bool operator()(std::string_view name, T fallback) const {
    return boolean(name, fallback);
  }
  template <std::integral T>
  requires(!std::same_as<T, bool>) std::int64_t operator()(std::string_view name, T fallback) const {
    return integer(name, static_cast<std::int64_t>(fallback));
  }
  template <std::floating_point T>
  double operator()(std::string_view name, T fallback) const {
    return number(name, static_cast<double>(fallback));
  }
  template <std::convertible_to<std::string_view> T>
  std::string operator()(std::string_view name, const T& fallback) const {
    return string(name, fallback);
  }

  /// Gives or replaces a setting. Programs give their own defaults this way.
  void set(const std::string& name, std::string text, std::string origin = "program");

  const std::map<std::string, Value, std::less<>>& all() const noexcept { return values_; }

  friend bool operator==(const UserSettings&, const UserSettings&) = default;

 private:
  template <class T>
  T get(std::string_view name, T fallback) const;
  bool boolean(std::string_view name, bool fallback) const;
  std::int64_t integer(std::string_view name, std::int64_t fallback) const;
  double number(std::string_view name, double fallback) const;
  std::string string(std::string_view name, std::string_view fallback) const;

  std::map<std::string, Value, std::less<>> values_;
};

}  // namespace ddpkit
