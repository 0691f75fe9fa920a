#include "ddpkit/checkpoint/checkpoint.hpp"

#include <algorithm>
#include <utility>

#include "checkpoint/digest.hpp"
#include "checkpoint/input_file.hpp"
#include "checkpoint/read_manifest.hpp"
#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit {
namespace {

void verify(const std::filesystem::path& path, const FileRecord& record) {
  const std::uint64_t size = InputFile(path).size();
  if (size != record.size) throw StorageError(text(path.string(), ": ", size, " bytes, its manifest says ", record.size));
  const std::string digest = digest_of_file(path);
  if (digest != record.digest)
    throw StorageError(text(path.string(), ": damaged: its XXH3 digest is ", digest, ", its manifest says ", record.digest));
}

}  // namespace

Checkpoint::Checkpoint(std::filesystem::path folder) : folder_(std::move(folder)), manifest_(read_manifest(folder_)) {
  for (const FileRecord& record : manifest_.files) verify(folder_ / record.name, record);
}

bool Checkpoint::contains(std::string_view file) const noexcept {
  return std::ranges::find(manifest_.files, file, &FileRecord::name) != manifest_.files.end();
}

SafetensorsFile Checkpoint::open(std::string_view file) const {
  if (!contains(file)) throw StorageError(text(folder_.string(), ": this checkpoint has no file \"", file, "\""));
  return SafetensorsFile(folder_ / file);
}

}  // namespace ddpkit
