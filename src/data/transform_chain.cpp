#include "ddpkit/data/transform_chain.hpp"

#include <algorithm>
#include <utility>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/data/normalize.hpp"
#include "ddpkit/data/random_crop.hpp"
#include "ddpkit/data/random_flip.hpp"

namespace ddpkit {
namespace {

constexpr std::string_view kField = "input";

}  // namespace

TransformChain::TransformChain(std::vector<std::shared_ptr<const Transform>> transforms, std::uint64_t seed)
    : transforms_(std::move(transforms)), seed_(seed) {}

void TransformChain::check(std::span<const FieldSpec> fields) const {
  if (empty()) return;
  const auto input = std::find_if(fields.begin(), fields.end(), [](const FieldSpec& field) { return field.name == kField; });
  if (input == fields.end()) throw ConfigError("data.transform: the data set has no field named input to change");
  if (input->dtype != DType::float32)
    throw ConfigError(text("data.transform: works on float32, the inputs of the data set are ", name_of(input->dtype)));
  for (const auto& transform : transforms_) transform->check(input->shape);
}

void TransformChain::apply(HostBatch& batch) const {
  const HostArray* input = empty() ? nullptr : batch.find(kField);
  if (input == nullptr || batch.rows == 0) return;
  const std::span<float> values = input->values<float>();
  const std::span<const std::int64_t> shape = std::span(input->shape).subspan(1);
  const std::size_t per_row = values.size() / static_cast<std::size_t>(batch.rows);
  for (std::size_t row = 0; row < batch.ids.size(); ++row) {
    for (std::size_t place = 0; place < transforms_.size(); ++place) {
      CounterRandom random(
          random_key({seed_, static_cast<std::uint64_t>(batch.epoch), static_cast<std::uint64_t>(batch.ids[row]), place}));
      transforms_[place]->apply(values.subspan(row * per_row, per_row), shape, random);
    }
  }
}

TransformChain make_transforms(const TransformOptions& options, Phase phase, std::uint64_t seed) {
  std::vector<std::shared_ptr<const Transform>> transforms;
  const bool random = phase == Phase::train;
  if (random && options.crop_padding != 0) transforms.push_back(std::make_shared<RandomCrop>(options.crop_padding));
  if (random && options.flip) transforms.push_back(std::make_shared<RandomFlip>());
  if (!options.mean.empty() || !options.std.empty())
    transforms.push_back(std::make_shared<Normalize>(options.mean, options.std));
  return {std::move(transforms), seed};
}

}  // namespace ddpkit
