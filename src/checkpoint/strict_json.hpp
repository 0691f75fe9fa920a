#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace ddpkit {

/// Parses JSON from files that may be damaged. Beyond what the grammar forbids, refuses repeated keys and nesting deeper than
/// `max_depth`. Throws StorageError that begins with `where`.
nlohmann::json parse_strict_json(std::string_view json, std::size_t max_depth, const std::string& where);

}  // namespace ddpkit
