#include "data/npy_header.hpp"

#include <array>
#include <charconv>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "ddpkit/base/text.hpp"

namespace ddpkit {
namespace {

constexpr std::size_t kMaxHeader = 1 << 20;

// The value of a key of the Python dictionary, from its first character to the end of the header.
std::string_view value_of(std::string_view header, const std::string& key, const InputFile& file) {
  const std::string quoted = "'" + key + "'";
  const std::size_t at = header.find(quoted);
  const std::size_t colon = at == std::string_view::npos ? at : header.find_first_not_of(" ", at + quoted.size());
  if (colon == std::string_view::npos || header[colon] != ':') file.fail(text("the header has no ", quoted));
  const std::size_t value = header.find_first_not_of(" ", colon + 1);
  if (value == std::string_view::npos) file.fail(text("the header has no value for ", quoted));
  return header.substr(value);
}

DType parse_dtype(std::string_view value, const InputFile& file) {
  constexpr auto kKnown = std::to_array<std::pair<std::string_view, DType>>({{"<f4", DType::float32},
                                                                             {"<f8", DType::float64},
                                                                             {"<f2", DType::float16},
                                                                             {"<i4", DType::int32},
                                                                             {"<i8", DType::int64},
                                                                             {"|u1", DType::uint8}});
  const std::size_t end = value.size() > 1 ? value.find('\'', 1) : std::string_view::npos;
  if (value.front() != '\'' || end == std::string_view::npos) file.fail("holds records or objects, expected one plain dtype");
  const std::string_view name = value.substr(1, end - 1);
  for (const auto& [known, dtype] : kKnown)
    if (name == known) return dtype;
  const bool big_endian = name.starts_with('>');
  file.fail(text("has dtype '", name, "'", big_endian ? " (big-endian)" : "",
                 ", expected one of <f4 <f8 <f2 <i4 <i8 |u1; convert it with array.astype"));
}

std::vector<std::int64_t> parse_shape(std::string_view value, const InputFile& file) {
  const std::size_t close = value.find(')');
  if (value.front() != '(' || close == std::string_view::npos) file.fail("the header has no tuple as 'shape'");
  std::string_view inside = value.substr(1, close - 1);
  std::vector<std::int64_t> shape;
  while (true) {
    const std::size_t begin = inside.find_first_not_of(" ,");
    if (begin == std::string_view::npos) return shape;
    std::int64_t extent = 0;
    const auto [end, error] = std::from_chars(inside.data() + begin, inside.data() + inside.size(), extent);
    if (error != std::errc() || extent < 0) file.fail(text("the header has shape (", value.substr(1, close - 1), ")"));
    shape.push_back(extent);
    inside.remove_prefix(static_cast<std::size_t>(end - inside.data()));
  }
}

std::string read_dictionary(InputFile& file) {
  std::array<char, 8> start{};
  file.read(std::as_writable_bytes(std::span(start)), "the magic string");
  if (std::memcmp(start.data(), "\x93NUMPY", 6) != 0) file.fail("is not an .npy file: its first bytes are not \\x93NUMPY");
  const int version = start[6];
  if (version < 1 || version > 3) file.fail(text("has .npy format version ", version, ", expected 1 to 3"));
  std::array<unsigned char, 4> bytes{};  // little-endian, two bytes in version 1, four since
  file.read(std::as_writable_bytes(std::span(bytes).first(version == 1 ? 2 : 4)), "the length of the header");
  const std::size_t length = bytes[0] | bytes[1] << 8 | bytes[2] << 16 | static_cast<std::size_t>(bytes[3]) << 24;
  if (length > kMaxHeader) file.fail(text("has a header of ", length, " bytes, expected at most ", kMaxHeader));
  std::string dictionary(length, ' ');
  file.read(std::as_writable_bytes(std::span(dictionary)), "the header");
  return dictionary;
}

}  // namespace

NpyHeader read_npy_header(InputFile& file) {
  const std::string dictionary = read_dictionary(file);
  if (!value_of(dictionary, "fortran_order", file).starts_with("False"))
    file.fail("is stored in Fortran order, expected C order; save numpy.ascontiguousarray(array)");
  return {parse_dtype(value_of(dictionary, "descr", file), file), parse_shape(value_of(dictionary, "shape", file), file)};
}

}  // namespace ddpkit
