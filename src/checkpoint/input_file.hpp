#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "checkpoint/descriptor.hpp"

namespace ddpkit {

/// A regular file, read from its beginning. All members throw StorageError.
class InputFile {
 public:
  explicit InputFile(std::filesystem::path path);

  int descriptor() const noexcept { return file_.number(); }
  std::uint64_t size() const noexcept { return size_; }
  /// Fills `buffer` as far as the file goes and returns how many bytes that were; 0 at the end.
  std::size_t read(std::span<std::byte> buffer);

 private:
  std::filesystem::path path_;
  Descriptor file_;
  std::uint64_t size_ = 0;
};

/// A whole small file. Throws StorageError, also when it is larger than `limit` bytes.
std::string read_text(const std::filesystem::path& path, std::uint64_t limit);

}  // namespace ddpkit
