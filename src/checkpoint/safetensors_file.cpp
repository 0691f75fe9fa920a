#include "ddpkit/checkpoint/safetensors_file.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "checkpoint/input_file.hpp"
#include "checkpoint/safetensors_header.hpp"
#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit {
namespace {

/// Length of the header, when it lies within the file.
std::uint64_t header_length(std::span<const std::byte> file, const std::string& where) {
  std::uint64_t length = 0;
  std::memcpy(&length, file.data(), sizeof length);
  if (length > kSafetensorsMaxHeader)
    throw StorageError(
        text(where, ": header of ", length, " bytes, the format allows ", kSafetensorsMaxHeader, ": not a safetensors file?"));
  if (length > file.size() - kSafetensorsPrefix)
    throw StorageError(text(where, ": cut off: header of ", length, " bytes in a file of ", file.size()));
  return length;
}

}  // namespace

void SafetensorsFile::Unmap::operator()(const std::byte* data) const noexcept {
  ::munmap(const_cast<std::byte*>(data), size);
}

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path) {
  const std::string where = path.string();
  const InputFile input(path);
  if (input.size() < kSafetensorsPrefix)
    throw StorageError(text(where, ": ", input.size(), " bytes, too short for a safetensors file"));
  const auto size = static_cast<std::size_t>(input.size());
  void* mapped = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, input.descriptor(), 0);
  if (mapped == MAP_FAILED) throw_errno("map", path);
  mapping_ = std::unique_ptr<const std::byte[], Unmap>(static_cast<const std::byte*>(mapped), Unmap{size});

  const std::span file(mapping_.get(), size);
  const auto length = static_cast<std::size_t>(header_length(file, where));
  const auto data = file.subspan(kSafetensorsPrefix + length);
  const std::string_view json(reinterpret_cast<const char*>(file.data()) + kSafetensorsPrefix, length);
  SafetensorsHeader header = parse_safetensors_header(json, data.size(), where);
  metadata_ = std::move(header.metadata);
  for (auto& entry : header.entries)
    tensors_.push_back({.name = std::move(entry.name),
                        .dtype = entry.dtype,
                        .shape = std::move(entry.shape),
                        .bytes = data.subspan(entry.begin, entry.end - entry.begin)});
}

const NamedBytes* SafetensorsFile::find(std::string_view name) const {
  const auto found = std::ranges::find(tensors_, name, &NamedBytes::name);
  return found == tensors_.end() ? nullptr : &*found;
}

}  // namespace ddpkit
