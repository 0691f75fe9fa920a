#pragma once

#include <span>
#include <string>
#include <string_view>

#include "ddpkit/config/run_config.hpp"

namespace ddpkit {

/// A value for one field of a section: {"batch", "micro", "64"}.
struct SettingEdit {
  std::string section;
  std::string key;
  std::string value;  ///< as it stands in the file
};

/// The text of a run file with values put in; everything else, comments and layout too, stays as it is. A key that is missing
/// goes behind `after` where its section has that, and else to the section's beginning; a section that is missing comes last.
/// Pure. Throws ConfigError, saying what to do by hand, for a text that it cannot edit safely.
std::string edit_settings(std::string_view yaml, std::span<const SettingEdit> edits, std::string_view after = "global");

/// Edits the file itself. Afterwards it says what it said before, except for the edited values: what would not load so, with
/// the defaults of `program`, is not written. The file is replaced as a whole or stays as it was. Not collective.
/// Throws ConfigError as edit_settings, and StorageError when the file cannot be read or written.
void edit_run_file(const std::string& path, std::span<const SettingEdit> edits, const RunConfig& program = {});

}  // namespace ddpkit
