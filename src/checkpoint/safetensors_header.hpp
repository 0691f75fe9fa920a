#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ddpkit/checkpoint/named_bytes.hpp"

namespace ddpkit {

/// Length of the number that a file begins with.
inline constexpr std::uint64_t kSafetensorsPrefix = 8;
/// Longest header that readers accept.
inline constexpr std::uint64_t kSafetensorsMaxHeader = 100'000'000;

/// The header of a safetensors file, checked.
struct SafetensorsHeader {
  struct Entry {
    std::string name{};
    DType dtype = DType::float32;
    std::vector<std::int64_t> shape{};
    std::uint64_t begin = 0;  ///< offsets in bytes behind the header
    std::uint64_t end = 0;
  };

  std::vector<Entry> entries{};  ///< in the order of their bytes
  std::map<std::string, std::string> metadata{};
};

/// Parses a header that describes `data_bytes` bytes. `where` is named in messages. Throws StorageError for any broken rule.
SafetensorsHeader parse_safetensors_header(std::string_view header, std::uint64_t data_bytes, const std::string& where);

/// The header for tensors stored one behind the other in the given order, padded with spaces to a multiple of 8.
std::string format_safetensors_header(std::span<const NamedBytes* const> tensors,
                                      const std::map<std::string, std::string>& metadata);

/// Bytes of a tensor of that shape. Throws StorageError that begins with `where` for a negative extent or an overflow.
std::uint64_t tensor_bytes(const std::vector<std::int64_t>& shape, DType dtype, const std::string& where);

}  // namespace ddpkit
