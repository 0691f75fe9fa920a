#pragma once

#include <memory>

#include "ddpkit/data/data_options.hpp"
#include "ddpkit/data/dataset.hpp"

namespace ddpkit {

/// The data set that a section of the run file describes. Throws DataError as the reader of its format does, and ConfigError
/// when the section lacks what the format needs.
std::unique_ptr<Dataset> open_dataset(const SourceOptions& options);

}  // namespace ddpkit
