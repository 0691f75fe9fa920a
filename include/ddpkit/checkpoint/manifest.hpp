#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ddpkit/checkpoint/standing.hpp"

namespace ddpkit {

/// Where the sampler stands.
struct SavedPosition {
  /// From `position` of `epoch` on, windows had `global` samples.
  struct BatchChange {
    std::int64_t epoch = 0;
    std::int64_t position = 0;
    std::int64_t global = 0;
    friend bool operator==(const BatchChange&, const BatchChange&) = default;
  };

  std::int64_t epoch = 0;
  std::int64_t position = 0;  ///< samples of the epoch's order already consumed, over all ranks
  std::int64_t global = 0;    ///< samples of one window
  std::vector<BatchChange> changes{};
  friend bool operator==(const SavedPosition&, const SavedPosition&) = default;
};

/// A file of a checkpoint as the manifest knows it.
struct FileRecord {
  std::string name{};      ///< a plain file name
  std::uint64_t size = 0;  ///< in bytes
  std::string digest{};    ///< XXH3-128 of the content, 32 hexadecimal digits
  friend bool operator==(const FileRecord&, const FileRecord&) = default;
};

/// What a checkpoint is and what belongs to it. Written last, so a checkpoint without one was never finished.
struct Manifest {
  static constexpr std::int64_t kFormat = 1;  ///< raised when an older reader would misread
  static constexpr const char* kFileName = "manifest.json";

  std::int64_t step = 0;
  std::int64_t world_size = 1;
  std::int64_t sequence = 0;  ///< rises with every save into a folder, also when a run went back to an earlier step
  Standing standing = Standing::ordinary;
  SavedPosition sampler{};
  std::string ddpkit_version{};
  std::map<std::string, std::string> values{};  ///< small state by name
  std::vector<FileRecord> files{};
  friend bool operator==(const Manifest&, const Manifest&) = default;
};

/// The manifest as JSON, with a digest of itself. Throws UsageError when a text in it is not UTF-8.
std::string format_manifest(const Manifest& manifest);

/// The inverse. `where` is named in messages. Throws StorageError when the text is not a manifest, is newer than this library,
/// was changed after it was written, or names a file that is not a plain file name.
Manifest parse_manifest(std::string_view json, const std::string& where);

}  // namespace ddpkit
