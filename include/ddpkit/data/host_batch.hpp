#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "ddpkit/data/host_array.hpp"

namespace ddpkit {

/// The rows one rank puts through one forward and backward, before they become tensors. Padded rows are not in here: a
/// micro-batch of a padded window simply has fewer rows, and one without any real row has `rows == 0` and no arrays.
///
/// A loader gathers the next batch into the memory of one that nobody holds any more: what is read off a batch it has given
/// out is valid while that batch is held.
struct HostBatch {
  /// What the layer above makes of the arrays once, and finds again when their memory comes back with other rows.
  class Extension {
   public:
    virtual ~Extension() = default;
    /// Whether nobody else holds a part of it, so that the arrays may be overwritten.
    virtual bool unused() const noexcept = 0;
  };

  std::vector<HostArray> arrays;
  std::vector<std::int64_t> ids;  ///< index in the data set of each row
  std::int64_t rows = 0;
  std::int64_t epoch = 0;
  std::int64_t window = 0;       ///< number of the window in its epoch
  std::int64_t micro_index = 0;  ///< number of the micro-batch in its window

  mutable std::shared_ptr<Extension> extension{};  ///< for whoever holds the batch

  /// The array of this name, or nullptr.
  const HostArray* find(std::string_view name) const noexcept;
};

}  // namespace ddpkit
