#include "ddpkit/data/open_dataset.hpp"

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/data/cifar10.hpp"
#include "ddpkit/data/csv.hpp"
#include "ddpkit/data/idx.hpp"
#include "ddpkit/data/npy.hpp"

namespace ddpkit {
namespace {

const std::string& required_target(const SourceOptions& options, std::string_view what) {
  if (!options.target.empty()) return options.target;
  throw ConfigError(text("data.target: the format ", name_of(options.format), " needs ", what));
}

InMemoryDataset read(const SourceOptions& options) {
  switch (options.format) {
    case DataFormat::idx: return read_idx(find_idx(options.path, options.split));
    case DataFormat::cifar10: return read_cifar10(options.path, options.split);
    case DataFormat::npy: return read_npy(options.path, required_target(options, "the file of targets"));
    case DataFormat::csv: return read_csv(options.path, required_target(options, "the name of the target column"));
    case DataFormat::none: break;
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
