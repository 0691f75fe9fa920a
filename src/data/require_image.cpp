#include "data/require_image.hpp"

#include "data/checked_size.hpp"
#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit {

void require_image(std::span<const std::int64_t> shape, std::string_view option) {
  if (shape.size() == 3) return;
  throw ConfigError(text(option, ": works on images of shape channels x height x width, the samples have ", shape_text(shape)));
}

}  // namespace ddpkit
