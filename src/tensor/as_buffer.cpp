#include "ddpkit/tensor/as_buffer.hpp"

#include <ATen/ops/from_blob.h>
#include <c10/core/impl/VirtualGuardImpl.h>

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

// Through c10's registry, so that programs for CPUs need not link the CUDA libraries.
Device device_of_tensor(const at::Tensor& tensor) {
  if (!tensor.is_cuda()) return {};
  const c10::Stream stream = c10::impl::VirtualGuardImpl(c10::DeviceType::CUDA).getStream(tensor.device());
  return {Device::Type::cuda, tensor.device().index(), stream.native_handle()};
}

namespace {

c10::Device torch_device(const Device& device) {
  if (device.type == Device::Type::cpu) return c10::Device(c10::DeviceType::CPU);
  return c10::Device(c10::DeviceType::CUDA, static_cast<c10::DeviceIndex>(device.index));
}

}  // namespace

Buffer as_buffer(const at::Tensor& tensor) {
  if (!tensor.is_non_overlapping_and_dense())
    throw UsageError(text("a tensor of shape ", tensor.sizes(), " with strides ", tensor.strides(),
                          " is not dense; call contiguous() first"));
  Buffer buffer;
  buffer.data = tensor.data_ptr();
  buffer.count = static_cast<std::size_t>(tensor.numel());
  buffer.dtype = dtype_of_tensor(tensor);
  buffer.device = device_of_tensor(tensor);
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
  const c10::Device device = torch_device(memory.device());
  return at::from_blob(
      memory.data() + offset, {count}, [memory](void*) {}, at::dtype(scalar_type_of(type)).device(device), device);
}

}  // namespace ddpkit
