#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace ddpkit {

/// Throws ConfigError that names the option unless a sample has the shape {channels, height, width}.
void require_image(std::span<const std::int64_t> shape, std::string_view option);

}  // namespace ddpkit
