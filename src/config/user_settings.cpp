#include "ddpkit/config/user_settings.hpp"

#include <utility>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/fields.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit {

template <class T>
T UserSettings::get(std::string_view name, T fallback) const {
  const auto found = values_.find(name);
  if (found == values_.end()) return fallback;
  const auto& [given, origin] = found->second;
  const std::string expected = parse_scalar(given, fallback);
  if (expected.empty()) return fallback;
  throw ConfigError(text(origin, ": user.", name, ": expected ", expected, ", got ", given));
}

bool UserSettings::boolean(std::string_view name, bool fallback) const {
  return get(name, fallback);
}

std::int64_t UserSettings::integer(std::string_view name, std::int64_t fallback) const {
  return get(name, fallback);
}

double UserSettings::number(std::string_view name, double fallback) const {
  return get(name, fallback);
}

std::string UserSettings::string(std::string_view name, std::string_view fallback) const {
  return get(name, std::string(fallback));
}

void UserSettings::set(const std::string& name, std::string text, std::string origin) {
  values_.insert_or_assign(name, Value{std::move(text), std::move(origin)});
}

}  // namespace ddpkit
