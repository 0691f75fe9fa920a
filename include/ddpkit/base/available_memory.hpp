#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace ddpkit {

/// Bytes that this process and those it shares a control group with may still take before the kernel kills one of them: the
/// smallest of what the node has (MemAvailable of /proc/meminfo) and what each control group around this process has left
/// (versions 1 and 2), caches of files that the kernel would drop counted as free. Nothing where the system tells none of them.
/// `root`: the folder that holds `proc` and `sys`.
std::optional<std::int64_t> available_memory(const std::filesystem::path& root = "/");

}  // namespace ddpkit
