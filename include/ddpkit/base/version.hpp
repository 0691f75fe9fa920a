#pragma once

#include <string_view>

namespace ddpkit {

/// "0.1.0": of the library that is linked.
std::string_view version() noexcept;

}  // namespace ddpkit
