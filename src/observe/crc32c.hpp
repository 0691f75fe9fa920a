#pragma once

#include <cstdint>
#include <string_view>

namespace ddpkit {

/// CRC-32C (Castagnoli; RFC 3720, appendix B.4).
std::uint32_t crc32c(std::string_view bytes);

/// CRC-32C rotated and offset as TensorFlow's record files want it, so that a checksum of data with checksums stays sound.
std::uint32_t masked_crc32c(std::string_view bytes);

}  // namespace ddpkit
