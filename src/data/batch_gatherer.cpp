#include "data/batch_gatherer.hpp"

#include <algorithm>
#include <utility>

namespace ddpkit {
namespace {

std::size_t column_bytes(const FieldSpec& field, std::int64_t rows) {
  constexpr std::size_t kAlignment = 64;
  return (field.sample_bytes() * static_cast<std::size_t>(rows) + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

BatchGatherer::BatchGatherer(const Dataset& dataset, const Order& order, const ShardedSampler& sampler,
                             TransformChain transforms, std::shared_ptr<BatchPool> pool)
    : dataset_(dataset), order_(order), sampler_(sampler), transforms_(std::move(transforms)), pool_(std::move(pool)) {}

std::int64_t BatchGatherer::rows_in_block(std::int64_t micro) const noexcept {
  return std::min(micro, sampler_.options().global / sampler_.options().world_size);
}

std::size_t BatchGatherer::block_bytes(std::int64_t micro) const noexcept {
  std::size_t bytes = 0;
  for (const FieldSpec& field : dataset_.fields()) bytes += column_bytes(field, rows_in_block(micro));
  return bytes;
}

/// Arrays for so many rows in the frame's block. Where there were some before, nothing is allocated.
void BatchGatherer::lay_out(BatchFrame& frame, std::int64_t rows, std::int64_t micro) const {
  std::vector<HostArray>& arrays = frame.batch.arrays;
  if (arrays.empty())
    for (const FieldSpec& field : dataset_.fields()) {
      std::vector<std::int64_t> shape{rows};
      shape.insert(shape.end(), field.shape.begin(), field.shape.end());
      arrays.push_back({field.name, field.dtype, std::move(shape), nullptr});
    }
  frame.columns.clear();
  std::byte* column = frame.block.get();
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    arrays[i].shape.front() = rows;
    arrays[i].bytes = std::shared_ptr<std::byte[]>(frame.block, column);
    frame.columns.push_back(column);
    column += column_bytes(dataset_.fields()[i], rows_in_block(micro));
  }
}

std::shared_ptr<const HostBatch> BatchGatherer::gather(const BatchKey& key) const {
  const PositionRange positions = sampler_.rows(key.window, key.micro, key.micro_index);
  const std::shared_ptr<BatchFrame> frame =
      positions.size() > 0 ? pool_->take(block_bytes(key.micro)) : std::make_shared<BatchFrame>();
  HostBatch& batch = frame->batch;
  batch.rows = positions.size();
  batch.epoch = key.window.epoch;
  batch.window = key.window.index;
  batch.micro_index = key.micro_index;
  batch.ids.clear();
  for (std::int64_t position = positions.begin; position < positions.end; ++position)
    batch.ids.push_back(order_.at(key.window.epoch, position));
  if (batch.rows > 0) {
    lay_out(*frame, batch.rows, key.micro);
    dataset_.gather(batch.ids, frame->columns);
    transforms_.apply(batch);
  }
  return {frame, &batch};
}

}  // namespace ddpkit
