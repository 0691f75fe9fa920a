#include "checkpoint/read_manifest.hpp"

#include "checkpoint/input_file.hpp"
#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit {

Manifest read_manifest(const std::filesystem::path& folder) {
  constexpr std::uint64_t kLargest = std::uint64_t{64} << 20;
  const std::filesystem::path path = folder / Manifest::kFileName;
  if (!std::filesystem::exists(path))
    throw StorageError(
        text(folder.string(), ": no ", Manifest::kFileName, ": not a checkpoint, or one that was never finished"));
  return parse_manifest(read_text(path, kLargest), path.string());
}

}  // namespace ddpkit
