#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "ddpkit/data/host_batch.hpp"
#include "ddpkit/tensor/named_tensor.hpp"

namespace ddpkit {

/// The rows one rank puts through one forward and backward, as tensors whose first dimension is the rows. Cheap to copy: copies
/// share the tensors.
class Batch {
 public:
  Batch() = default;

  /// Views of a host batch's arrays. Holds the batch; a tensor that is kept longer keeps its memory from being used again. The
  /// views are made once and found again when a loader fills the same memory with the next rows.
  explicit Batch(std::shared_ptr<const HostBatch> host);

  /// Own tensors. All have the same number of rows; throws UsageError otherwise.
  explicit Batch(std::vector<NamedTensor> tensors);

  /// The arrays named "input" and "target". Throw UsageError, naming what there is, when there is none.
  const at::Tensor& input() const { return (*this)["input"]; }
  const at::Tensor& target() const { return (*this)["target"]; }
  const at::Tensor& operator[](std::string_view name) const;

  std::span<const NamedTensor> tensors() const noexcept;
  std::int64_t rows() const noexcept { return rows_; }

  /// Index in the data set of each row; empty for batches made from own tensors.
  std::span<const std::int64_t> ids() const noexcept;

  /// Number of the micro-batch in its window, on this rank.
  std::int64_t micro_index() const noexcept { return micro_index_; }

  bool is_on(c10::Device device) const noexcept;

  /// The same rows on another device; itself when they are there already.
  Batch to(c10::Device device) const;

 private:
  std::shared_ptr<const HostBatch> host_;                    // none for own tensors
  std::shared_ptr<const std::vector<NamedTensor>> tensors_;  // none for a batch without rows
  std::int64_t rows_ = 0;
  std::int64_t micro_index_ = 0;
};

}  // namespace ddpkit
