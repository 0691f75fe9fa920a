#pragma once

#include <string>

#include "ddpkit/data/in_memory_dataset.hpp"

namespace ddpkit {

/// Reads a file of comma-separated numbers under a header line, as RFC 4180 describes it: a field may be quoted. The column
/// `target` becomes the field "target": int64 when all its values are written as whole numbers, float32 otherwise. All other
/// columns, in their order, become "input", float32 of shape {columns - 1}. Throws DataError with line and column of what is no
/// number, and ConfigError when there is no such target, naming the nearest column.
InMemoryDataset read_csv(const std::string& path, const std::string& target);

}  // namespace ddpkit
