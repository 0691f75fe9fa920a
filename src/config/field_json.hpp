#pragma once

#include <nlohmann/json.hpp>

#include "config/field_tree.hpp"

namespace ddpkit {

using Json = nlohmann::ordered_json;  // keeps the order of the sections

/// A value as JSON has it: booleans and numbers bare, everything with a unit or a name as a string.
Json json_value(const Field& field);

}  // namespace ddpkit
