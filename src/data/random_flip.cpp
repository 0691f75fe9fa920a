#include "ddpkit/data/random_flip.hpp"

#include <algorithm>

#include "data/require_image.hpp"

namespace ddpkit {

void RandomFlip::check(std::span<const std::int64_t> shape) const {
  require_image(shape, "data.transform.flip");
}

void RandomFlip::apply(std::span<float> sample, std::span<const std::int64_t> shape, CounterRandom& random) const {
  if (random.uniform() < 0.5) return;
  for (auto row = sample.begin(); row != sample.end(); row += shape[2]) std::reverse(row, row + shape[2]);
}

}  // namespace ddpkit
