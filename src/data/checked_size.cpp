#include "data/checked_size.hpp"

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit {

std::size_t checked_bytes(std::span<const std::int64_t> shape, DType dtype, const std::string& what) {
  auto bytes = static_cast<std::int64_t>(size_of(dtype));
  bool overflow = false;
  bool empty = false;
  for (const std::int64_t extent : shape) {
    if (extent < 0) throw DataError(text(what, ": negative extent in shape ", shape_text(shape)));
    empty = empty || extent == 0;
    if (extent != 0) overflow = __builtin_mul_overflow(bytes, extent, &bytes) || overflow;
  }
  if (overflow) throw DataError(text(what, ": shape ", shape_text(shape), " of ", name_of(dtype), " is more than 2^63 bytes"));
  return empty ? 0 : static_cast<std::size_t>(bytes);
}

std::string shape_text(std::span<const std::int64_t> shape) {
  std::string out;
  for (const std::int64_t extent : shape) out += (out.empty() ? "" : " x ") + std::to_string(extent);
  return out.empty() ? "scalar" : out;
}

}  // namespace ddpkit
