#pragma once

#include <filesystem>
#include <string_view>

namespace ddpkit {

/// A hidden name beside `path` that is not the path: ".<file name>.<what>-<process id>", what being "tmp" or "trash".
std::filesystem::path hidden_sibling(const std::filesystem::path& path, std::string_view what);

/// Whether a file name was made by `hidden_sibling`, by any process.
bool is_hidden_sibling(std::string_view file_name);

/// Puts a folder's list of names on the disk. Throws StorageError.
void sync_folder(const std::filesystem::path& folder);

/// Renames `from`, synced, to `to` in the same folder so that `to` is at any time what it was or what `from` is, and syncs the
/// folder. A folder that `to` was before is deleted. Throws StorageError and leaves `to` as it was.
void publish(const std::filesystem::path& from, const std::filesystem::path& to);

/// Takes a file or folder out of the way by a rename, so that it is never seen half deleted, and deletes it as far as it can.
void discard(const std::filesystem::path& path) noexcept;

}  // namespace ddpkit
