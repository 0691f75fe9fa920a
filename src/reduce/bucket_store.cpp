#include "reduce/bucket_store.hpp"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include "ddpkit/base/text.hpp"
#include "ddpkit/tensor/as_buffer.hpp"

namespace ddpkit {
namespace {

std::string tag_of(std::size_t index, const Bucket& bucket, std::span<const NamedTensor> gradients) {
  return text("bucket ", index, ", ", gradients[bucket.slots.front().parameter].name, "..",
              gradients[bucket.slots.back().parameter].name);
}

/// The slot as the gradient will be: with the parameter's strides where it is dense, else contiguous.
at::Tensor view_of_slot(const at::Tensor& flat, const BucketSlot& slot, const at::Tensor& parameter) {
  const bool dense = parameter.is_non_overlapping_and_dense();
  const std::vector<std::int64_t> strides =
      dense ? parameter.strides().vec() : at::empty(parameter.sizes(), at::kMeta).strides().vec();
  return flat.as_strided(parameter.sizes(), strides, flat.storage_offset() + slot.offset);
}

/// Where the ranks of this node have what lies `offset` bytes into this rank's memory.
std::vector<const std::byte*> copies_at(const Memory& memory, std::size_t offset) {
  std::vector<const std::byte*> copies;
  for (const std::byte* part : memory.parts()) copies.push_back(part + offset);
  return copies;
}

}  // namespace

BucketStore::BucketStore(const BucketPlan& plan, std::span<const NamedTensor> gradients, Communicator& comm)
    : slots_(gradients.size()), copies_(gradients.size()) {
  for (std::size_t b = 0; b < plan.buckets.size(); ++b) {
    const Bucket& bucket = plan.buckets[b];
    const Memory memory = comm.allocate(bucket.bytes());
    flats_.push_back(tensor_in(memory, 0, bucket.elements, bucket.dtype).zero_());
    buffers_.push_back(Buffer::in(memory, 0, static_cast<std::size_t>(bucket.elements), bucket.dtype));
    tags_.push_back(tag_of(b, bucket, gradients));
    for (const BucketSlot& slot : bucket.slots) {
      slots_[slot.parameter] = view_of_slot(flats_.back(), slot, gradients[slot.parameter].tensor);
      copies_[slot.parameter] = copies_at(memory, static_cast<std::size_t>(slot.offset) * size_of(bucket.dtype));
    }
    shared_ = shared_ && memory.parts().size() == static_cast<std::size_t>(comm.world_size());
  }
}

Buffer BucketStore::buffer(std::size_t bucket) const {
  Buffer buffer = buffers_[bucket];
  buffer.device = device_of_tensor(flats_[bucket]);
  return buffer;
}

Buffer BucketStore::slot_buffer(std::size_t bucket, std::size_t gradient) const {
  return as_buffer(slots_[gradient], buffers_[bucket].memory);
}

}  // namespace ddpkit
