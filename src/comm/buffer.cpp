#include "ddpkit/comm/buffer.hpp"

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit {

Buffer Buffer::in(const Memory& memory, std::size_t offset, std::size_t count, DType dtype) {
  const std::size_t bytes = count * size_of(dtype);
  if (offset > memory.size() || bytes > memory.size() - offset)
    throw UsageError(text("Buffer::in: ", count, " ", name_of(dtype), " at byte ", offset, " reach past the end of a block of ",
                          memory.size(), " bytes"));
  Buffer buffer;
  buffer.data = memory.data() + offset;
  buffer.count = count;
  buffer.dtype = dtype;
  buffer.device = memory.device();
  buffer.memory = memory;
  buffer.offset = offset;
  return buffer;
}

Buffer::operator ConstBuffer() const {
  ConstBuffer view;
  view.data = data;
  view.count = count;
  view.dtype = dtype;
  view.device = device;
  view.memory = memory;
  view.offset = offset;
  view.keep_alive = keep_alive;
  return view;
}

}  // namespace ddpkit
