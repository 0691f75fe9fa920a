#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "ddpkit/base/dtype.hpp"
#include "ddpkit/comm/device.hpp"
#include "ddpkit/comm/memory.hpp"

namespace ddpkit {

/// Elements that a collective may read. Made from a span or by `as_buffer(tensor)`, never by hand. A view: whoever issues an
/// asynchronous operation keeps the elements alive until its Work is done, unless `keep_alive` or `memory` holds them.
struct ConstBuffer {
  const void* data = nullptr;
  std::size_t count = 0;  ///< elements, not bytes
  DType dtype = DType::float32;
  Device device;
  Memory memory;                           ///< set when the elements lie in memory from Communicator::allocate
  std::size_t offset = 0;                  ///< bytes from the start of `memory`
  std::shared_ptr<const void> keep_alive;  ///< owner of the elements, held until the operation is done

  ConstBuffer() = default;
  template <Element T, std::size_t Extent>
  ConstBuffer(std::span<const T, Extent> elements) : data(elements.data()), count(elements.size()), dtype(dtype_of<T>) {}

  std::size_t bytes() const noexcept { return count * size_of(dtype); }
};

/// Elements that a collective may write; otherwise as ConstBuffer.
struct Buffer {
  void* data = nullptr;
  std::size_t count = 0;
  DType dtype = DType::float32;
  Device device;
  Memory memory;
  std::size_t offset = 0;
  std::shared_ptr<const void> keep_alive;

  Buffer() = default;
  template <Element T, std::size_t Extent>
  Buffer(std::span<T, Extent> elements) : data(elements.data()), count(elements.size()), dtype(dtype_of<T>) {}

  /// `count` elements at `offset` bytes into memory from Communicator::allocate, on the memory's device. Throws UsageError past
  /// its end.
  static Buffer in(const Memory& memory, std::size_t offset, std::size_t count, DType dtype);

  std::size_t bytes() const noexcept { return count * size_of(dtype); }
  operator ConstBuffer() const;
};

}  // namespace ddpkit
