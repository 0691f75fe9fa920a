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

}  // namespace

BucketStore::BucketStore(BucketPlan plan, std::span<const NamedTensor> gradients, Communicator& comm)
    : plan_(std::move(plan)), slots_(gradients.size()), bucket_of_(gradients.size()) {
  for (std::size_t b = 0; b < plan_.buckets.size(); ++b) {
    const Bucket& bucket = plan_.buckets[b];
    memories_.push_back(comm.allocate(bucket.bytes()));
    flats_.push_back(tensor_in(memories_.back(), 0, bucket.elements, bucket.dtype).zero_());
    tags_.push_back(tag_of(b, bucket, gradients));
    for (const BucketSlot& slot : bucket.slots) {
      slots_[slot.parameter] = view_of_slot(flats_.back(), slot, gradients[slot.parameter].tensor);
      bucket_of_[slot.parameter] = b;
    }
  }
}

Buffer BucketStore::buffer(std::size_t bucket) const {
  return as_buffer(flats_[bucket], memories_[bucket]);
}

}  // namespace ddpkit
