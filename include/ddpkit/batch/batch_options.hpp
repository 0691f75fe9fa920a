#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "ddpkit/base/fields.hpp"

namespace ddpkit {

/// What the learning rate does when the global batch changes during training.
enum class RateChange {
  hold,   ///< nothing: the batch grows instead of the rate decaying
  scale,  ///< it follows the batch by schedule.scaling
};

constexpr auto enum_names(RateChange) {
  return std::to_array<std::pair<RateChange, std::string_view>>({{RateChange::hold, "hold"}, {RateChange::scale, "scale"}});
}

/// One row of `batch.schedule`: from the first window that starts at or after `at`, windows have `global` samples.
struct BatchChange {
  Extent at{};
  std::int64_t global = 0;
  RateChange lr = RateChange::hold;
};

template <class Visitor>
void visit_fields(Visitor& visit, BatchChange& change) {
  visit("at", change.at, "steps, epochs or % of the run after which it holds, once the window in progress is done", above(0));
  visit("global", change.global, "samples in one optimizer step from there on", at_least(1));
  visit("lr", change.lr, "hold: the rate stays, as growth instead of decay; scale: it follows the batch by schedule.scaling");
}

/// Who decides that the batch grows.
enum class GrowthBy {
  none,
  geometric,    ///< the calendar: by a factor at equal distances
  noise_scale,  ///< the measured gradient noise scale
};

constexpr auto enum_names(GrowthBy) {
  return std::to_array<std::pair<GrowthBy, std::string_view>>(
      {{GrowthBy::none, "none"}, {GrowthBy::geometric, "geometric"}, {GrowthBy::noise_scale, "noise_scale"}});
}

/// `batch.growth`.
struct GrowthOptions {
  GrowthBy by = GrowthBy::none;
  Extent every = {1, Extent::Unit::epochs};
  std::int64_t factor = 2;
  std::int64_t max = 0;
  RateChange lr = RateChange::hold;
};

template <class Visitor>
void visit_fields(Visitor& visit, GrowthOptions& options) {
  visit("by", options.by, "geometric: at equal distances; noise_scale: when the noise scale has reached the next batch");
  visit("every", options.every, "distance between two changes; by noise_scale: the smallest", above(0));
  visit("factor", options.factor, "each change multiplies the global batch by it", at_least(2));
  visit("max", options.max, "largest global batch; 0: as large as the data set", at_least(0));
  visit("lr", options.lr, "hold: the rate stays, as growth instead of decay; scale: it follows the batch by schedule.scaling");
}

/// `batch.shrink`.
struct ShrinkOptions {
  std::int64_t oscillations = 0;
  std::int64_t min = 1;
  RateChange lr = RateChange::scale;
};

template <class Visitor>
void visit_fields(Visitor& visit, ShrinkOptions& options) {
  visit("oscillations", options.oscillations,
        "the global batch is halved when the validation loss has turned so many evaluations in a row; 0: never", at_least(0));
  visit("min", options.min, "smallest global batch", at_least(1));
  visit("lr", options.lr, "hold: the rate stays; scale: it follows the batch by schedule.scaling");
}

/// Section `batch`: global = micro x accumulate x world size. What is left `auto` is solved for.
struct BatchOptions {
  std::int64_t global = 256;
  std::optional<std::int64_t> micro{};
  std::optional<std::int64_t> accumulate{};
  std::optional<std::int64_t> max_micro{};
  std::vector<BatchChange> schedule{};
  GrowthOptions growth{};
  ShrinkOptions shrink{};
};

template <class Visitor>
void visit_fields(Visitor& visit, BatchOptions& options) {
  visit("global", options.global, "samples in one optimizer step, over all ranks", at_least(1));
  visit("micro", options.micro, "samples one rank puts through one forward and backward; auto: as large as the others allow",
        at_least(1));
  visit("accumulate", options.accumulate, "micro-batches per rank in one step; auto: global / (micro x ranks)", at_least(1));
  visit("max_micro", options.max_micro,
        "largest micro-batch where micro is auto, such as what fits into memory; auto: no limit", at_least(1));
  visit("schedule", options.schedule, "global batches that come later in the run, in rising order of `at`");
  visit("growth", options.growth, "growth of the global batch without a table; instead of schedule");
  visit("shrink", options.shrink, "halving of the global batch when training swings; instead of schedule and growth");
}

}  // namespace ddpkit
