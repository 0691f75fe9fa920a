#include "ddpkit/tensor/tensor_dataset.hpp"

#include <cstdint>

#include "ddpkit/tensor/as_buffer.hpp"

namespace ddpkit {
namespace {

constexpr std::uintptr_t kAlignment = 64;  // of HostArray::bytes

at::Tensor as_host_memory(const at::Tensor& tensor) {
  const at::Tensor host = tensor.detach().to(c10::kCPU).contiguous();
  const bool aligned = reinterpret_cast<std::uintptr_t>(host.const_data_ptr()) % kAlignment == 0;
  return aligned ? host : host.clone();
}

HostArray host_array_of(const NamedTensor& item) {
  const at::Tensor host = as_host_memory(item.tensor);
  return {item.name,
          dtype_of_tensor(host),
          host.sizes().vec(),
          {static_cast<std::byte*>(host.mutable_data_ptr()), [host](std::byte*) {}}};
}

}  // namespace

InMemoryDataset tensor_dataset(std::span<const NamedTensor> columns, std::string origin) {
  std::vector<Column> arrays;
  for (const NamedTensor& item : columns) arrays.push_back({.array = host_array_of(item)});
  return InMemoryDataset(std::move(arrays), std::move(origin));
}

}  // namespace ddpkit
