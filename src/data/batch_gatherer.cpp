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
                             TransformChain transforms, std::shared_ptr<BlockPool> pool)
    : dataset_(dataset), order_(order), sampler_(sampler), transforms_(std::move(transforms)), pool_(std::move(pool)) {}

std::int64_t BatchGatherer::rows_in_block(std::int64_t micro) const noexcept {
  return std::min(micro, sampler_.options().global / sampler_.options().world_size);
}

std::size_t BatchGatherer::block_bytes(std::int64_t micro) const noexcept {
  std::size_t bytes = 0;
  for (const FieldSpec& field : dataset_.fields()) bytes += column_bytes(field, rows_in_block(micro));
  return bytes;
}

std::vector<std::int64_t> BatchGatherer::ids_of(std::int64_t epoch, const PositionRange& positions) const {
  std::vector<std::int64_t> ids;
  ids.reserve(static_cast<std::size_t>(positions.size()));
  for (std::int64_t position = positions.begin; position < positions.end; ++position) ids.push_back(order_.at(epoch, position));
  return ids;
}

std::vector<HostArray> BatchGatherer::arrays_for(std::int64_t rows, std::int64_t micro) const {
  const auto block = pool_->take(block_bytes(micro));
  std::vector<HostArray> arrays;
  std::byte* column = block.get();
  for (const FieldSpec& field : dataset_.fields()) {
    std::vector<std::int64_t> shape{rows};
    shape.insert(shape.end(), field.shape.begin(), field.shape.end());
    arrays.push_back({field.name, field.dtype, std::move(shape), std::shared_ptr<std::byte[]>(block, column)});
    column += column_bytes(field, rows_in_block(micro));
  }
  return arrays;
}

HostBatch BatchGatherer::gather(const BatchKey& key) const {
  const PositionRange positions = sampler_.rows(key.window, key.micro, key.micro_index);
  HostBatch batch{.arrays = {},
                  .ids = ids_of(key.window.epoch, positions),
                  .rows = positions.size(),
                  .epoch = key.window.epoch,
                  .window = key.window.index,
                  .micro_index = key.micro_index};
  if (batch.rows == 0) return batch;
  batch.arrays = arrays_for(batch.rows, key.micro);
  std::vector<std::byte*> columns;
  for (const HostArray& array : batch.arrays) columns.push_back(array.bytes.get());
  dataset_.gather(batch.ids, columns);
  transforms_.apply(batch);
  return batch;
}

}  // namespace ddpkit
