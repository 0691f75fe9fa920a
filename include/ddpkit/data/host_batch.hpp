#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ddpkit/base/dtype.hpp"

namespace ddpkit {

/// A dense array on the host, row-major; its first dimension is the rows of a batch. Copies share the bytes.
struct HostArray {
  std::string name;  ///< "input", "target", or what the data set calls it
  DType dtype = DType::float32;
  std::vector<std::int64_t> shape;
  std::shared_ptr<std::byte[]> bytes;  ///< size_of(dtype) x product of shape; aligned to 64

  std::int64_t elements() const noexcept;
  std::size_t size_bytes() const noexcept { return static_cast<std::size_t>(elements()) * size_of(dtype); }
};

/// The rows one rank puts through one forward and backward, before they become tensors. Padded rows are not in here: a
/// micro-batch of a padded window simply has fewer rows, and one without any real row has `rows == 0` and no arrays.
struct HostBatch {
  std::vector<HostArray> arrays;
  std::vector<std::int64_t> ids;  ///< index in the data set of each row
  std::int64_t rows = 0;
  std::int64_t epoch = 0;
  std::int64_t window = 0;       ///< number of the window in its epoch
  std::int64_t micro_index = 0;  ///< number of the micro-batch in its window

  const HostArray* find(std::string_view name) const noexcept;
};

}  // namespace ddpkit
