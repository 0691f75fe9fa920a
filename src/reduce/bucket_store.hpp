#pragma once

#include <ATen/core/Tensor.h>

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
  BucketStore(BucketPlan plan, std::span<const NamedTensor> gradients, Communicator& comm);

  const BucketPlan& plan() const noexcept { return plan_; }
  std::size_t size() const noexcept { return flats_.size(); }
  at::Tensor& flat(std::size_t bucket) { return flats_[bucket]; }
  Buffer buffer(std::size_t bucket) const;
  const std::string& tag(std::size_t bucket) const { return tags_[bucket]; }

  const at::Tensor& slot(std::size_t gradient) const { return slots_[gradient]; }
  std::size_t bucket_of(std::size_t gradient) const { return bucket_of_[gradient]; }

 private:
  BucketPlan plan_;
  std::vector<Memory> memories_;
  std::vector<at::Tensor> flats_;
  std::vector<std::string> tags_;
  std::vector<at::Tensor> slots_;       // by gradient
  std::vector<std::size_t> bucket_of_;  // by gradient
};

}  // namespace ddpkit
