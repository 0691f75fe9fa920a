#pragma once

#include <string>

#include "ddpkit/data/in_memory_dataset.hpp"

namespace ddpkit {

/// Reads the binary version of CIFAR-10 from a folder: data_batch_1.bin to data_batch_5.bin for the split "train",
/// test_batch.bin for "test". "input" is float32 in [0, 1] of shape {3, 32, 32}, kept as bytes; "target" is int64 in 0 to 9.
/// Throws ConfigError for another split, and DataError that names the file: missing, cut off, or a label out of range.
InMemoryDataset read_cifar10(const std::string& folder, const std::string& split);

}  // namespace ddpkit
