#include "checkpoint/digest.hpp"

#define XXH_INLINE_ALL  // no library
#include <xxhash.h>

#include <array>
#include <vector>

#include "checkpoint/input_file.hpp"

namespace ddpkit {

struct Digest::State {
  XXH3_state_t xxh;
};

Digest::Digest() : state_(new State) {
  XXH3_128bits_reset(&state_->xxh);
}

void Digest::Free::operator()(State* state) const noexcept {
  delete state;
}

void Digest::update(std::span<const std::byte> bytes) noexcept {
  XXH3_128bits_update(&state_->xxh, bytes.data(), bytes.size());
}

std::string Digest::hex() const {
  constexpr std::string_view kDigits = "0123456789abcdef";
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(&state_->xxh));
  std::string hex;
  for (const unsigned char byte : canonical.digest) {
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

std::string digest_of_file(const std::filesystem::path& path) {
  InputFile file(path);
  Digest digest;
  std::vector<std::byte> buffer(std::size_t{1} << 20);
  while (const std::size_t count = file.read(buffer)) digest.update(std::span(buffer).first(count));
  return digest.hex();
}

}  // namespace ddpkit
