#include "ddpkit/tensor/safetensors_io.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

#include <cstddef>
#include <cstring>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/checkpoint/write_safetensors.hpp"
#include "ddpkit/tensor/as_buffer.hpp"

namespace ddpkit {
namespace {

DType stored_type_of(const NamedTensor& named) {
  try {
    return dtype_of_tensor(named.tensor);
  } catch (const UsageError&) {
    throw UsageError(text("tensor ", named.name, " of type ", at::toString(named.tensor.scalar_type()),
                          " cannot be saved; files hold float64, float32, float16, bfloat16, int64, int32 and uint8"));
  }
}

at::Tensor copied(const NamedBytes& stored) {
  at::Tensor tensor = at::empty(stored.shape, at::dtype(scalar_type_of(stored.dtype)));
  if (!stored.bytes.empty()) std::memcpy(tensor.mutable_data_ptr(), stored.bytes.data(), stored.bytes.size());
  return tensor;
}

}  // namespace

std::vector<NamedTensor> on_host(std::span<const NamedTensor> tensors) {
  std::vector<NamedTensor> host;
  for (const auto& [name, tensor] : tensors) {
    const at::Tensor plain = tensor.detach().cpu().contiguous();
    host.push_back({name, plain.scalar_type() == at::kBool ? plain.to(at::kByte) : plain});
  }
  return host;
}

std::vector<NamedBytes> as_named_bytes(std::span<const NamedTensor> host_tensors) {
  std::vector<NamedBytes> all;
  for (const NamedTensor& named : host_tensors) {
    const at::Tensor& tensor = named.tensor;
    NamedBytes& stored = all.emplace_back();
    stored.name = named.name;
    stored.dtype = stored_type_of(named);
    stored.shape = tensor.sizes().vec();
    stored.bytes = {static_cast<const std::byte*>(tensor.const_data_ptr()), tensor.nbytes()};
  }
  return all;
}

void save_tensors(const std::filesystem::path& path, std::span<const NamedTensor> tensors,
                  const std::map<std::string, std::string>& metadata) {
  const std::vector<NamedTensor> host = on_host(tensors);
  write_safetensors(path, as_named_bytes(host), metadata);
}

std::vector<NamedTensor> tensors_in(const SafetensorsFile& file) {
  std::vector<NamedTensor> tensors;
  for (const NamedBytes& stored : file.tensors()) tensors.push_back({stored.name, copied(stored)});
  return tensors;
}

std::vector<NamedTensor> load_tensors(const std::filesystem::path& path) {
  return tensors_in(SafetensorsFile(path));
}

}  // namespace ddpkit
