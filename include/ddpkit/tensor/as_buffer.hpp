#pragma once

#include <ATen/core/Tensor.h>

#include "ddpkit/base/dtype.hpp"
#include "ddpkit/comm/buffer.hpp"

namespace ddpkit {

/// The element type of a tensor. Throws UsageError for types that collectives do not know (bool, complex, int8, int16).
DType dtype_of_tensor(const at::Tensor& tensor);

/// The inverse.
at::ScalarType scalar_type_of(DType type);

/// Where a tensor lies. On CUDA the stream is the calling thread's current one on the tensor's device.
Device device_of_tensor(const at::Tensor& tensor);

/// A dense tensor's elements in memory order. The buffer keeps the tensor alive. Throws UsageError when it has holes or
/// overlaps; strides may be permuted (channels_last), as long as they are the same on all ranks.
Buffer as_buffer(const at::Tensor& tensor);

/// `tensor` as a buffer whose elements lie `offset` bytes into `memory`. Throws UsageError when they do not.
Buffer as_buffer(const at::Tensor& tensor, const Memory& memory);

/// A one-dimensional tensor over memory from Communicator::allocate; the tensor keeps the memory alive.
at::Tensor tensor_in(const Memory& memory, std::size_t offset, std::int64_t count, DType type);

}  // namespace ddpkit
