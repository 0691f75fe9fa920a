#include "ddpkit/tensor/as_buffer.hpp"

#include <ATen/ops/from_blob.h>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit {

DType dtype_of_tensor(const at::Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case at::kFloat: return DType::float32;
    case at::kDouble: return DType::float64;
    case at::kHalf: return DType::float16;
    case at::kBFloat16: return DType::bfloat16;
    case at::kInt: return DType::int32;
    case at::kLong: return DType::int64;
    case at::kByte: return DType::uint8;
    default: throw UsageError(text("tensors of type ", at::toString(tensor.scalar_type()), " cannot be sent between ranks"));
  }
}

at::ScalarType scalar_type_of(DType type) {
  switch (type) {
    case DType::float32: return at::kFloat;
    case DType::float64: return at::kDouble;
    case DType::float16: return at::kHalf;
    case DType::bfloat16: return at::kBFloat16;
    case DType::int32: return at::kInt;
    case DType::int64: return at::kLong;
    case DType::uint8: return at::kByte;
  }
  return at::kFloat;
}

Buffer as_buffer(const at::Tensor& tensor) {
  if (!tensor.is_non_overlapping_and_dense())
    throw UsageError(text("a tensor of shape ", tensor.sizes(), " with strides ", tensor.strides(),
                          " is not dense; call contiguous() first"));
  Buffer buffer;
  buffer.data = tensor.data_ptr();
  buffer.count = static_cast<std::size_t>(tensor.numel());
  buffer.dtype = dtype_of_tensor(tensor);
  if (tensor.is_cuda()) buffer.device = {Device::Type::cuda, tensor.device().index(), nullptr};
  buffer.keep_alive = std::make_shared<at::Tensor>(tensor);
  return buffer;
}

Buffer as_buffer(const at::Tensor& tensor, const Memory& memory) {
  Buffer buffer = as_buffer(tensor);
  const auto* begin = static_cast<const std::byte*>(buffer.data);
  const std::ptrdiff_t offset = begin - memory.data();
  const bool inside = offset >= 0 && static_cast<std::size_t>(offset) + buffer.bytes() <= memory.size();
  if (!inside) throw UsageError(text("a tensor of ", buffer.bytes(), " bytes does not lie in the given block"));
  buffer.memory = memory;
  buffer.offset = static_cast<std::size_t>(offset);
  return buffer;
}

at::Tensor tensor_in(const Memory& memory, std::size_t offset, std::int64_t count, DType type) {
  Buffer::in(memory, offset, static_cast<std::size_t>(count), type);  // checks the bounds
  return at::from_blob(
      memory.data() + offset, {count}, [memory](void*) {}, at::dtype(scalar_type_of(type)));
}

}  // namespace ddpkit
