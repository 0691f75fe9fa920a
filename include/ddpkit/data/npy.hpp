#pragma once

#include <string>

#include "ddpkit/data/in_memory_dataset.hpp"

namespace ddpkit {

/// Reads an array that NumPy saved: format versions 1 to 3, little-endian, C order, a dtype that ddpkit knows. Throws DataError
/// that names the file and what is wrong with it.
HostArray read_npy_array(const std::string& path, const std::string& name);

/// Two arrays with the samples as their first dimension: "input" and "target", each in the dtype it was saved with.
InMemoryDataset read_npy(const std::string& inputs, const std::string& targets);

}  // namespace ddpkit
