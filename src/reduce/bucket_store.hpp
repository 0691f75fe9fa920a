#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "ddpkit/comm/communicator.hpp"
#include "ddpkit/reduce/bucket_plan.hpp"
#include "ddpkit/tensor/named_tensor.hpp"

namespace ddpkit {

/// A plan's buckets in memory that the backend reduces fastest, and a view of each gradient's slot, shaped like its parameter.
class BucketStore {
 public:
  /// Collective, since allocating is. `gradients[i]` is the parameter of the plan's gradient i.
  BucketStore(const BucketPlan& plan, std::span<const NamedTensor> gradients, Communicator& comm);

  /// On CUDA it names the calling thread's current stream.
  Buffer buffer(std::size_t bucket) const;
  Buffer slot_buffer(std::size_t bucket, std::size_t gradient) const;
  const std::string& tag(std::size_t bucket) const { return tags_[bucket]; }

  const at::Tensor& slot(std::size_t gradient) const { return slots_[gradient]; }

  /// Whether every rank has every bucket of all ranks before it.
  bool shared() const noexcept { return shared_; }

  /// Then: where each rank has its slot of this gradient, in rank order.
  const std::vector<const std::byte*>& copies(std::size_t gradient) const { return copies_[gradient]; }

 private:
  std::vector<at::Tensor> flats_;
  std::vector<Buffer> buffers_;  // each holds its memory; made once, since that allocates
  std::vector<std::string> tags_;
  std::vector<at::Tensor> slots_;                      // by gradient
  std::vector<std::vector<const std::byte*>> copies_;  // by gradient
  bool shared_ = true;
};

}  // namespace ddpkit
