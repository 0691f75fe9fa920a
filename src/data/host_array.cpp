#include "ddpkit/data/host_array.hpp"

#include <new>
#include <utility>

#include "data/checked_size.hpp"
#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit {
namespace {

constexpr std::align_val_t kAlignment{64};

}  // namespace

std::int64_t HostArray::elements() const noexcept {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  return count;
}

void HostArray::require_dtype(DType wanted) const {
  if (wanted == dtype) return;
  throw UsageError(text("array '", name, "' holds ", name_of(dtype), " and was read as ", name_of(wanted)));
}

std::shared_ptr<std::byte[]> allocate_aligned(std::size_t bytes) {
  auto* memory = static_cast<std::byte*>(::operator new[](bytes, kAlignment));
  return {memory, [](std::byte* p) { ::operator delete[](p, kAlignment); }};
}

HostArray make_array(std::string name, DType dtype, std::vector<std::int64_t> shape) {
  const std::size_t bytes = checked_bytes(shape, dtype, "array '" + name + "'");
  return {std::move(name), dtype, std::move(shape), allocate_aligned(bytes)};
}

}  // namespace ddpkit
