#include "ddpkit/data/normalize.hpp"

#include "data/checked_size.hpp"
#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit {
namespace {

// Sixteen at a time: with a fixed count the compiler uses vector instructions.
void normalize(std::span<float> values, float mean, float std) {
  constexpr std::size_t kAtOnce = 16;
  for (; values.size() >= kAtOnce; values = values.subspan(kAtOnce))
    for (std::size_t i = 0; i < kAtOnce; ++i) values[i] = (values[i] - mean) / std;
  for (float& value : values) value = (value - mean) / std;
}

}  // namespace

Normalize::Normalize(std::vector<double> mean, std::vector<double> std)
    : mean_(mean.begin(), mean.end()), std_(std.begin(), std.end()) {
  if (mean.empty() || mean.size() != std.size())
    throw ConfigError(text("data.transform: mean has ", mean.size(), " values and std ", std.size(),
                           ", expected one of each per channel, or one for all"));
  for (const float value : std_)
    if (!(value > 0)) throw ConfigError(text("data.transform.std: expected positive numbers, got ", value));
}

void Normalize::check(std::span<const std::int64_t> shape) const {
  const std::int64_t channels = shape.empty() ? 1 : shape[0];
  const auto given = static_cast<std::int64_t>(mean_.size());
  if (given == 1 || given == channels) return;
  throw ConfigError(
      text("data.transform.mean: ", given, " values for samples of shape ", shape_text(shape), ", expected 1 or ", channels));
}

void Normalize::apply(std::span<float> sample, std::span<const std::int64_t>, CounterRandom&) const {
  const std::size_t per_channel = sample.size() / mean_.size();
  for (std::size_t c = 0; c < mean_.size(); ++c) normalize(sample.subspan(c * per_channel, per_channel), mean_[c], std_[c]);
}

}  // namespace ddpkit
