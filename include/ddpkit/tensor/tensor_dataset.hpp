#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <utility>

#include "ddpkit/data/in_memory_dataset.hpp"
#include "ddpkit/tensor/named_tensor.hpp"

namespace ddpkit {

/// Samples that lie in tensors whose first dimension is the samples: `tensor_dataset({{"input", x}, {"target", y}})`. Shares
/// the memory of contiguous CPU tensors, which nobody may change while the data set lives, and copies others. Throws UsageError
/// for element types that no batch can have (bool, complex, int8, int16), DataError as InMemoryDataset does.
InMemoryDataset tensor_dataset(std::span<const NamedTensor> columns, std::string origin = "memory");
inline InMemoryDataset tensor_dataset(std::initializer_list<NamedTensor> columns, std::string origin = "memory") {
  return tensor_dataset(std::span(columns.begin(), columns.size()), std::move(origin));
}

}  // namespace ddpkit
