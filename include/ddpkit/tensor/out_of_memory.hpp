#pragma once

#include <exception>
#include <optional>
#include <string>

namespace ddpkit {

/// What an exception says, in one line, when it means that memory ran out, on the host or on a device; nothing when it means
/// something else. Sees through TorchScript, whose interpreter turns every exception into a std::runtime_error that quotes it.
std::optional<std::string> out_of_memory(const std::exception& error);

}  // namespace ddpkit
