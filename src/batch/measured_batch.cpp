#include "ddpkit/batch/measured_batch.hpp"

#include "ddpkit/base/figures.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit {

MeasuredBatch::MeasuredBatch(const BatchOptions& options, const RunBounds& run, std::int64_t world_size)
    : options_(options), run_(run), world_size_(world_size) {
  state_.now = {options.global, static_cast<double>(options.global)};
}

std::optional<std::string> MeasuredBatch::consider(const RunPoint& point, const NoiseEstimate& estimate) {
  const GrowthOptions& growth = options_.growth;
  if (growth.by != GrowthBy::noise_scale) return {};
  const std::int64_t limit = growth_limit(growth, run_.samples);
  if (state_.now.global > limit / growth.factor || !has_passed(growth.every, state_.changed_at, point, run_)) return {};
  const std::int64_t wanted = state_.now.global * growth.factor;
  const bool sure = estimate.low > static_cast<double>(state_.now.global);
  if (!(sure && estimate.noise_scale >= static_cast<double>(wanted))) return {};
  change(point, wanted, growth.lr);
  return text("the noise scale is ", figure(estimate.noise_scale), " samples (band ", figure(estimate.low), " to ",
              figure(estimate.high), ")");
}

std::optional<std::string> MeasuredBatch::consider(const RunPoint& point, double validation_loss) {
  const ShrinkOptions& shrink = options_.shrink;
  if (shrink.oscillations < 1) return {};
  TurnCounter swings;
  swings.set_state(state_.swings);
  const bool swinging = swings.observe(validation_loss) >= shrink.oscillations;
  state_.swings = swings.state();
  const std::int64_t half = state_.now.global / 2;
  const bool possible = half >= shrink.min && state_.now.global % (2 * world_size_) == 0;
  if (!swinging || !possible) return {};
  state_.swings = {};
  change(point, half, shrink.lr);
  return text("the validation loss has turned ", shrink.oscillations, " times in a row");
}

void MeasuredBatch::change(const RunPoint& point, std::int64_t global, RateChange lr) {
  state_.now = changed(state_.now, global, lr);
  state_.changed_at = point;
}

}  // namespace ddpkit
