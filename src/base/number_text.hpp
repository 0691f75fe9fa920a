#pragma once

#include <string_view>

namespace ddpkit {

/// "010", "-007", "00.5": octal to some readers, decimal to others, so refused by all of ours.
bool has_leading_zeros(std::string_view text);

}  // namespace ddpkit
