#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>

#include "ddpkit/checkpoint/named_bytes.hpp"

namespace ddpkit {

/// Writes tensors to a safetensors file, streamed, equal to the byte to what Python's safetensors writes. The file appears
/// under its name complete and synced, or not at all; an older one of that name is replaced.
///
/// Throws UsageError for a repeated name or a shape that does not match its bytes, StorageError when the disk refuses.
void write_safetensors(const std::filesystem::path& path, std::span<const NamedBytes> tensors,
                       const std::map<std::string, std::string>& metadata = {});

}  // namespace ddpkit
