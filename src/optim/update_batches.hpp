#pragma once

#include <c10/core/Device.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ddpkit/base/dtype.hpp"
#include "optim/update_rule.hpp"

namespace ddpkit {

/// Elements that one rule updates, in strips that threads can share out.
struct UpdateBatch {
  struct Key {
    std::size_t group = 0;     ///< index of their GroupPlan
    std::int64_t updates = 1;  ///< of their parameters, this one included
    DType dtype = DType::float32;
    c10::Device device{c10::kCPU};

    bool operator==(const Key&) const = default;
  };

  Key key;
  std::vector<UpdateStrip> strips;
};

/// What one step updates, gathered before anything is written. Keeps its room, so that later steps allocate nothing.
class UpdateBatches {
 public:
  void clear() noexcept { used_ = 0; }

  /// A parameter, or an empty one.
  void add(const UpdateBatch::Key& key, const UpdateStrip& whole);

  std::span<const UpdateBatch> all() const noexcept { return std::span(batches_).first(used_); }

 private:
  UpdateBatch& batch_of(const UpdateBatch::Key& key);

  std::vector<UpdateBatch> batches_;
  std::size_t used_ = 0;
};

/// Applies `rule` to the batch: on LibTorch's threads on a CPU; asynchronously on LibTorch's current stream on a CUDA device.
void run_update(const UpdateRule& rule, const UpdateBatch& batch);

}  // namespace ddpkit
