#include "ddpkit/data/random_crop.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "data/require_image.hpp"
#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit {
namespace {

constexpr const char* kOption = "data.transform.crop_padding";

struct Offset {
  std::int64_t down = 0;  // the row that becomes row 0; negative inside the padding above
  std::int64_t right = 0;
};

void shift_row(std::span<float> to, std::span<const float> from, std::int64_t right) {
  const auto skipped = static_cast<std::size_t>(std::min(std::abs(right), static_cast<std::int64_t>(to.size())));
  const std::size_t kept = to.size() - skipped;
  const auto outside = right >= 0 ? to.last(skipped) : to.first(skipped);
  if (right >= 0)
    std::memmove(to.data(), from.data() + skipped, kept * sizeof(float));
  else
    std::memmove(to.data() + skipped, from.data(), kept * sizeof(float));
  std::fill(outside.begin(), outside.end(), 0.0F);
}

// In place: rows are visited so that each is read before it is overwritten.
void crop_channel(std::span<float> image, std::int64_t height, std::int64_t width, Offset offset) {
  const auto row = [&](std::int64_t y) {
    return image.subspan(static_cast<std::size_t>(y * width), static_cast<std::size_t>(width));
  };
  for (std::int64_t i = 0; i < height; ++i) {
    const std::int64_t y = offset.down >= 0 ? i : height - 1 - i;
    const std::int64_t from = y + offset.down;
    if (from >= 0 && from < height)
      shift_row(row(y), row(from), offset.right);
    else
      std::fill(row(y).begin(), row(y).end(), 0.0F);
  }
}

}  // namespace

RandomCrop::RandomCrop(std::int64_t padding) : padding_(padding) {
  if (padding < 0) throw ConfigError(text(kOption, ": expected at least 0, got ", padding));
}

void RandomCrop::check(std::span<const std::int64_t> shape) const {
  require_image(shape, kOption);
}

void RandomCrop::apply(std::span<float> sample, std::span<const std::int64_t> shape, CounterRandom& random) const {
  const auto places = static_cast<std::uint64_t>(2 * padding_ + 1);
  const Offset offset{.down = static_cast<std::int64_t>(random.below(places)) - padding_,
                      .right = static_cast<std::int64_t>(random.below(places)) - padding_};
  const auto pixels = static_cast<std::size_t>(shape[1] * shape[2]);
  for (std::size_t begin = 0; begin < sample.size(); begin += pixels)
    crop_channel(sample.subspan(begin, pixels), shape[1], shape[2], offset);
}

}  // namespace ddpkit
