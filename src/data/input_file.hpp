#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace ddpkit {

/// A file read from front to back, unpacked on the way when it is gzip. Every failure is a DataError that names the path.
class InputFile {
 public:
  /// `hint` ends the message about a missing file.
  explicit InputFile(std::string path, const std::string& hint = "");

  const std::string& path() const noexcept { return path_; }

  /// Fills `out`; a file that ends before is an error that names `what` was read.
  void read(std::span<std::byte> out, const std::string& what);
  /// Throws unless everything was read and the checksum of a gzip file holds.
  void expect_end();
  /// Everything that is left.
  std::string read_rest();

  /// Throws when a file of this size on disk cannot hold `bytes`, packed or not: a header may promise anything.
  void expect_room_for(std::size_t bytes) const;

  [[noreturn]] void fail(const std::string& message) const;

 private:
  struct Close {
    void operator()(void* file) const noexcept;
  };
  std::size_t read_some(std::span<std::byte> out);

  std::string path_;
  std::uintmax_t size_on_disk_ = 0;
  std::unique_ptr<void, Close> file_;
};

}  // namespace ddpkit
