#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ddpkit/checkpoint/named_bytes.hpp"

namespace ddpkit {

/// A safetensors file, mapped into memory and checked against every rule of the format when it is opened: header length, JSON
/// without repeated keys, shapes that match their bytes, no hole, no overlap, nothing behind the last tensor. The format
/// carries no checksum; a checkpoint's manifest does.
///
/// Owns the mapping: the bytes of its tensors are valid while it lives. The file must not be changed meanwhile. Not copyable;
/// safe to read from several threads.
class SafetensorsFile {
 public:
  /// Throws StorageError when the file cannot be read, breaks a rule, or holds an element type that DType does not have.
  explicit SafetensorsFile(const std::filesystem::path& path);

  /// All tensors, in the order of their bytes.
  const std::vector<NamedBytes>& tensors() const noexcept { return tensors_; }
  /// nullptr when there is none of that name.
  const NamedBytes* find(std::string_view name) const;
  /// The header's "__metadata__".
  const std::map<std::string, std::string>& metadata() const noexcept { return metadata_; }

 private:
  struct Unmap {
    std::size_t size = 0;
    void operator()(const std::byte* data) const noexcept;
  };

  std::unique_ptr<const std::byte[], Unmap> mapping_{nullptr, Unmap{}};
  std::vector<NamedBytes> tensors_;
  std::map<std::string, std::string> metadata_;
};

}  // namespace ddpkit
