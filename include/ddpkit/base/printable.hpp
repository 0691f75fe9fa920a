#pragma once

#include <string>
#include <string_view>

namespace ddpkit {

/// `text` as one line that a terminal shows as it is: control characters, escape sequences and bytes that are not UTF-8 are
/// written as "\x1b". Thread-safe.
std::string printable(std::string_view text);

/// Length in bytes of the UTF-8 character at the start of `text`, which is not empty; 0 when none starts there.
std::size_t utf8_length(std::string_view text);

}  // namespace ddpkit
