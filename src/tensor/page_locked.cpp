#include "ddpkit/tensor/page_locked.hpp"

#include <ATen/ops/empty.h>

namespace ddpkit {

std::shared_ptr<std::byte[]> allocate_page_locked(std::size_t bytes) {
  const auto size = static_cast<std::int64_t>(bytes);
  const at::Tensor memory = at::empty({size}, at::TensorOptions(at::kByte).pinned_memory(true));
  return {static_cast<std::byte*>(memory.mutable_data_ptr()), [memory](std::byte*) {}};
}

}  // namespace ddpkit
