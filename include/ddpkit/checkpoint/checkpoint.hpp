#pragma once

#include <filesystem>
#include <string_view>

#include "ddpkit/checkpoint/manifest.hpp"
#include "ddpkit/checkpoint/safetensors_file.hpp"

namespace ddpkit {

/// A checkpoint on disk whose files were all read once and found as the manifest says. Later damage is not seen.
class Checkpoint {
 public:
  /// Reads and verifies. Throws StorageError that names the first file that is missing, cut off or changed.
  explicit Checkpoint(std::filesystem::path folder);

  const std::filesystem::path& folder() const noexcept { return folder_; }
  const Manifest& manifest() const noexcept { return manifest_; }

  /// Whether the manifest lists a file of that name.
  bool contains(std::string_view file) const noexcept;
  /// Maps one of the files. Throws StorageError when the manifest does not list it.
  SafetensorsFile open(std::string_view file) const;

 private:
  std::filesystem::path folder_;
  Manifest manifest_;
};

}  // namespace ddpkit
