#include "ddpkit/data/open_dataset.hpp"

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/data/idx.hpp"

namespace ddpkit {
namespace {

InMemoryDataset read(const SourceOptions& options) {
  switch (options.format) {
    case DataFormat::idx: return read_idx(find_idx(options.path, options.split));
    default: break;
  }
  throw ConfigError("data.format: none: the program did not bring a data set, and the run file names none");
}

}  // namespace

std::unique_ptr<Dataset> open_dataset(const SourceOptions& options) {
  if (options.format != DataFormat::none && options.path.empty())
    throw ConfigError(text("data.path: the format ", name_of(options.format), " needs a path"));
  return std::make_unique<InMemoryDataset>(read(options));
}

}  // namespace ddpkit
