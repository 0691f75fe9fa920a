#pragma once

#include <string>

namespace ddpkit {

/// JSON Schema (draft 07) of run files, for editors: types, defaults, ranges, names and units.
std::string json_schema();

/// The reference page of all options, in Markdown.
std::string options_page();

}  // namespace ddpkit
