#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

#include "checkpoint/descriptor.hpp"
#include "checkpoint/digest.hpp"

namespace ddpkit {

/// A new file, written from its beginning and digested on the way. Members throw StorageError; the destructor closes only.
class OutputFile {
 public:
  /// Refuses a path that exists.
  explicit OutputFile(std::filesystem::path path);

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text);
  /// Puts the content on the disk and closes. Without it nothing is promised.
  void finish();

  std::uint64_t size() const noexcept { return size_; }
  std::string digest() const { return digest_.hex(); }

 private:
  std::filesystem::path path_;
  Descriptor file_;
  Digest digest_;
  std::uint64_t size_ = 0;
};

}  // namespace ddpkit
