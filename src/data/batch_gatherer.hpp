#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "data/batch_key.hpp"
#include "data/batch_pool.hpp"
#include "ddpkit/data/dataset.hpp"
#include "ddpkit/data/host_batch.hpp"
#include "ddpkit/data/order.hpp"
#include "ddpkit/data/sharded_sampler.hpp"
#include "ddpkit/data/transform_chain.hpp"

namespace ddpkit {

/// Turns a key into a batch: positions, ids, rows, transforms. Thread-safe. `dataset` and `order` must outlive it.
class BatchGatherer {
 public:
  BatchGatherer(const Dataset& dataset, const Order& order, const ShardedSampler& sampler, TransformChain transforms,
                std::shared_ptr<BatchPool> pool);

  const ShardedSampler& sampler() const noexcept { return sampler_; }

  /// Memory of one micro-batch. All of one cut have the same, also short ones, so that they can be recycled.
  std::size_t block_bytes(std::int64_t micro) const noexcept;

  std::shared_ptr<const HostBatch> gather(const BatchKey& key) const;

 private:
  std::int64_t rows_in_block(std::int64_t micro) const noexcept;
  void lay_out(BatchFrame& frame, std::int64_t rows, std::int64_t micro) const;

  const Dataset& dataset_;
  const Order& order_;
  ShardedSampler sampler_;
  TransformChain transforms_;
  std::shared_ptr<BatchPool> pool_;
};

}  // namespace ddpkit
