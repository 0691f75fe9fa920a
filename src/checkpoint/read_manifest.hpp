#pragma once

#include <filesystem>

#include "ddpkit/checkpoint/manifest.hpp"

namespace ddpkit {

/// The manifest of a checkpoint's folder, without a look at the files it lists. Throws StorageError.
Manifest read_manifest(const std::filesystem::path& folder);

}  // namespace ddpkit
