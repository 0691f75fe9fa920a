#pragma once

#include <filesystem>
#include <string_view>

namespace ddpkit {

/// Makes `content` the whole content of the file, or leaves it as it was: written beside it, synced, renamed. A file that
/// exists keeps its mode, and a link stays one, to the new content. Throws StorageError.
void replace_file(const std::filesystem::path& path, std::string_view content);

}  // namespace ddpkit
