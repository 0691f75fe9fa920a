#pragma once

#include <cstdint>
#include <vector>

#include "ddpkit/data/host_batch.hpp"
#include "ddpkit/data/in_memory_dataset.hpp"

/// A data set whose samples tell their index: "input" of two floats {id, -id}, "target" the index itself.
inline ddpkit::InMemoryDataset numbered(std::int64_t size) {
  ddpkit::HostArray input = ddpkit::make_array("input", ddpkit::DType::float32, {size, 2});
  ddpkit::HostArray target = ddpkit::make_array("target", ddpkit::DType::int64, {size});
  for (std::int64_t id = 0; id < size; ++id) {
    const auto row = static_cast<std::size_t>(id);
    input.values<float>()[2 * row] = static_cast<float>(id);
    input.values<float>()[2 * row + 1] = -static_cast<float>(id);
    target.values<std::int64_t>()[row] = id;
  }
  return ddpkit::InMemoryDataset({{input}, {target}}, "numbered");
}

/// Whether the rows of a batch are those of its ids.
inline bool rows_match_ids(const ddpkit::HostBatch& batch) {
  if (batch.rows != static_cast<std::int64_t>(batch.ids.size())) return false;
  if (batch.rows == 0) return batch.arrays.empty();
  const auto input = batch.find("input")->values<float>();
  const auto target = batch.find("target")->values<std::int64_t>();
  if (input.size() != 2 * batch.ids.size() || target.size() != batch.ids.size()) return false;
  for (std::size_t row = 0; row < batch.ids.size(); ++row) {
    const auto id = static_cast<float>(batch.ids[row]);
    if (input[2 * row] != id || input[2 * row + 1] != -id || target[row] != batch.ids[row]) return false;
  }
  return true;
}
