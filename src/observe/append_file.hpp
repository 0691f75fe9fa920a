#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string_view>

namespace ddpkit {

/// A file that only grows, with one writer. Errors are StorageError and name the path.
class AppendFile {
 public:
  explicit AppendFile(const std::filesystem::path& path);
  ~AppendFile();
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;

  /// All of `bytes` in one write, or none: what a full disk took of them is cut off again.
  void append(std::string_view bytes);

  void sync();

  /// Cuts off a last line without its end, which a crash of the machine can leave.
  void drop_torn_line();

 private:
  [[noreturn]] void fail(std::string_view what) const;
  off_t end_of_last_line() const;

  std::filesystem::path path_;
  int descriptor_;
  off_t size_ = 0;
};

}  // namespace ddpkit
