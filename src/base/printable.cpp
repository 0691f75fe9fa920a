#include "ddpkit/base/printable.hpp"

namespace ddpkit {
namespace {

unsigned byte_at(std::string_view text, std::size_t index) {
  return static_cast<unsigned char>(text[index]);
}

// Over-long forms, surrogates and what lies above U+10FFFF have no valid second byte (Unicode 15, table 3-7).
bool second_byte_fits(unsigned first, unsigned second) {
  switch (first) {
    case 0xe0: return second >= 0xa0;
    case 0xed: return second <= 0x9f;
    case 0xf0: return second >= 0x90;
    case 0xf4: return second <= 0x8f;
    default: return true;
  }
}

std::size_t announced_length(unsigned first) {
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return 2;
  if (first >= 0xe0 && first <= 0xef) return 3;
  if (first >= 0xf0 && first <= 0xf4) return 4;
  return 0;
}

// The C1 controls too: some terminals take U+009B for the start of an escape sequence.
bool is_control(std::string_view character) {
  const unsigned first = byte_at(character, 0);
  if (character.size() == 1) return first < 0x20 || first == 0x7f;
  return first == 0xc2 && byte_at(character, 1) < 0xa0;
}

void append_escaped(std::string& out, std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    out += "\\x";
    out += kDigits[byte_at(bytes, i) >> 4];
    out += kDigits[byte_at(bytes, i) & 15];
  }
}

}  // namespace

std::size_t utf8_length(std::string_view text) {
  const unsigned first = byte_at(text, 0);
  const std::size_t length = announced_length(first);
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte_at(text, i) & 0xc0) != 0x80) return 0;
  return length == 1 || second_byte_fits(first, byte_at(text, 1)) ? length : 0;
}

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const std::string_view character = text.substr(0, length == 0 ? 1 : length);
    if (character == "\t")
      out += ' ';
    else if (length == 0 || is_control(character))
      append_escaped(out, character);
    else
      out += character;
    text.remove_prefix(character.size());
  }
  return out;
}

}  // namespace ddpkit
