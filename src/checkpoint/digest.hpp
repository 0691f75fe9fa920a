#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

namespace ddpkit {

/// XXH3-128 of a stream of bytes: finds damage, does not stop an attacker.
class Digest {
 public:
  Digest();
  void update(std::span<const std::byte> bytes) noexcept;
  /// 32 hexadecimal digits, as xxhsum writes them.
  std::string hex() const;

 private:
  struct State;
  struct Free {
    void operator()(State* state) const noexcept;
  };
  std::unique_ptr<State, Free> state_;
};

/// Digest of a whole file, read and not mapped, so that a failing disk is an error and not a signal. Throws StorageError.
std::string digest_of_file(const std::filesystem::path& path);

}  // namespace ddpkit
