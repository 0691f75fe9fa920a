#include "optim/update_batches.hpp"

#include <algorithm>

#include "optim/device_update.hpp"
#include "tensor/in_parallel.hpp"

namespace ddpkit {
namespace {

constexpr std::int64_t kStrip = 16384;  // elements: enough work for a thread to take up

UpdateStrip part_of(const UpdateStrip& whole, std::int64_t first, std::int64_t count, std::size_t width) {
  const auto offset = static_cast<std::size_t>(first) * width;
  UpdateStrip part;
  part.parameter = static_cast<std::byte*>(whole.parameter) + offset;
  part.gradient = static_cast<const std::byte*>(whole.gradient) + offset;
  for (std::size_t i = 0; i < part.moments.size(); ++i)
    if (whole.moments[i]) part.moments[i] = static_cast<std::byte*>(whole.moments[i]) + offset;
  part.count = count;
  return part;
}

}  // namespace

UpdateBatch& UpdateBatches::batch_of(const UpdateBatch::Key& key) {
  const auto end = batches_.begin() + static_cast<std::ptrdiff_t>(used_);
  const auto found = std::find_if(batches_.begin(), end, [&](const UpdateBatch& batch) { return batch.key == key; });
  if (found != end) return *found;
  if (used_ == batches_.size()) batches_.emplace_back();
  UpdateBatch& batch = batches_[used_++];
  batch.key = key;
  batch.strips.clear();
  return batch;
}

void UpdateBatches::add(const UpdateBatch::Key& key, const UpdateStrip& whole) {
  std::vector<UpdateStrip>& strips = batch_of(key).strips;
  const std::int64_t most = key.device.is_cpu() ? kStrip : std::max<std::int64_t>(1, whole.count);
  for (std::int64_t first = 0; first < whole.count; first += most)
    strips.push_back(part_of(whole, first, std::min(most, whole.count - first), size_of(key.dtype)));
}

void run_update(const UpdateRule& rule, const UpdateBatch& batch) {
  if (!batch.key.device.is_cpu()) return update_on_device(rule, batch.key.dtype, batch.strips, batch.key.device);
  const ElementUpdate update(rule, batch.key.dtype);
  in_parallel(static_cast<std::int64_t>(batch.strips.size()), /*grain=*/2, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) update(batch.strips[i]);
  });
}

}  // namespace ddpkit
