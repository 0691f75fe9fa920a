#pragma once

#include <filesystem>
#include <string_view>

namespace ddpkit {

/// Owns a file descriptor.
class Descriptor {
 public:
  explicit Descriptor(int number) noexcept : number_(number) {}
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&&) = delete;

  int number() const noexcept { return number_; }
  /// Gives the descriptor up without closing it.
  int release() noexcept;

 private:
  int number_;
};

/// Throws StorageError "cannot <what> <path>: <text of errno>", with a hint where there is a common cause.
[[noreturn]] void throw_errno(std::string_view what, const std::filesystem::path& path);

}  // namespace ddpkit
