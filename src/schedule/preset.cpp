#include "ddpkit/schedule/preset.hpp"

namespace ddpkit {
namespace {

template <class T>
void fill(T& field, const T& untouched, const T& value) {
  if (field == untouched) field = value;
}

ScheduleOptions goyal_imagenet(ScheduleOptions options) {
  constexpr auto kEpochs = Extent::Unit::epochs;
  const ScheduleOptions untouched;
  fill(options.scaling, untouched.scaling, Scaling::linear);
  fill(options.reference_batch, untouched.reference_batch, std::int64_t{256});
  fill(options.warmup, untouched.warmup, {5, kEpochs});
  fill(options.decay, untouched.decay, Decay::multi_step);
  fill(options.milestones, untouched.milestones, {{30, kEpochs}, {60, kEpochs}, {80, kEpochs}});
  fill(options.gamma, untouched.gamma, 0.1);
  return options;
}

}  // namespace

ScheduleOptions apply_preset(ScheduleOptions options) {
  switch (options.preset) {
    case SchedulePreset::none: return options;
    case SchedulePreset::goyal_imagenet: return goyal_imagenet(std::move(options));
  }
  return options;
}

}  // namespace ddpkit
