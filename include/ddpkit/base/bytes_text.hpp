#pragma once

#include <cstdint>
#include <string>

namespace ddpkit {

/// A size for people, with three digits: "512 B", "64 MiB", "11.2 GiB", "-3.5 KiB". The same in every locale.
std::string bytes_text(std::int64_t bytes);

}  // namespace ddpkit
