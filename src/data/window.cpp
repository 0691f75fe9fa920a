#include "ddpkit/data/window.hpp"

#include <utility>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit {

Window::Window(WindowRange range, std::int64_t local_batch, std::int64_t micro, std::shared_ptr<Source> source)
    : range_(range), local_batch_(local_batch), micro_(micro), source_(std::move(source)) {
  if (micro_ < 1) throw ConfigError(text("batch.micro: expected at least 1, got ", micro_));
}

Window Window::recut(std::int64_t micro) const {
  return {range_, local_batch_, micro, source_};
}

}  // namespace ddpkit
