#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "ddpkit/data/host_array.hpp"

namespace ddpkit {

/// The rows one rank puts through one forward and backward, before they become tensors. Padded rows are not in here: a
/// micro-batch of a padded window simply has fewer rows, and one without any real row has `rows == 0` and no arrays.
struct HostBatch {
  std::vector<HostArray> arrays;
  std::vector<std::int64_t> ids;  ///< index in the data set of each row
  std::int64_t rows = 0;
  std::int64_t epoch = 0;
  std::int64_t window = 0;       ///< number of the window in its epoch
  std::int64_t micro_index = 0;  ///< number of the micro-batch in its window

  /// The array of this name, or nullptr.
  const HostArray* find(std::string_view name) const noexcept;
};

}  // namespace ddpkit
