#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "ddpkit/base/fields.hpp"

namespace ddpkit {

/// How the base rate follows the global batch.
enum class Scaling { none, linear, square_root };

constexpr auto enum_names(Scaling) {
  return std::to_array<std::pair<Scaling, std::string_view>>(
      {{Scaling::none, "none"}, {Scaling::linear, "linear"}, {Scaling::square_root, "sqrt"}});
}

/// The shape of the learning rate after warm-up.
enum class Decay { constant, step, multi_step, exponential, linear, polynomial, cosine, cosine_restarts, warmup_stable_decay };

constexpr auto enum_names(Decay) {
  return std::to_array<std::pair<Decay, std::string_view>>({{Decay::constant, "constant"},
                                                            {Decay::step, "step"},
                                                            {Decay::multi_step, "multi_step"},
                                                            {Decay::exponential, "exponential"},
                                                            {Decay::linear, "linear"},
                                                            {Decay::polynomial, "polynomial"},
                                                            {Decay::cosine, "cosine"},
                                                            {Decay::cosine_restarts, "cosine_restarts"},
                                                            {Decay::warmup_stable_decay, "wsd"}});
}

/// A whole recipe by name.
enum class SchedulePreset { none, goyal_imagenet };

constexpr auto enum_names(SchedulePreset) {
  return std::to_array<std::pair<SchedulePreset, std::string_view>>(
      {{SchedulePreset::none, "none"}, {SchedulePreset::goyal_imagenet, "goyal_imagenet"}});
}

/// Section `schedule`.
struct ScheduleOptions {
  SchedulePreset preset = SchedulePreset::none;
  Scaling scaling = Scaling::none;
  std::int64_t reference_batch = 256;
  Extent warmup{};
  double warmup_start = 0;  ///< factor of the target; 0: target / warm-up steps at the first step
  Decay decay = Decay::constant;
  std::vector<Extent> milestones{};  ///< multi_step
  Extent period{};                   ///< step: between drops; cosine_restarts: first cycle; wsd: length of the decay
  double period_factor = 1;          ///< cosine_restarts: each cycle is so many times as long as the one before
  double gamma = 0.1;                ///< step, multi_step: factor of a drop; exponential: factor per epoch
  double power = 1;                  ///< polynomial
  double final_factor = 0;  ///< linear, polynomial, cosine, wsd: last rate; cosine_restarts: lowest; as a factor of the target
};

template <class Visitor>
void visit_fields(Visitor& visit, ScheduleOptions& options) {
  visit("preset", options.preset, "a recipe by name that sets the fields below; fields given as well win");
  visit("scaling", options.scaling, "how optimizer.lr follows the global batch: linear is lr x global / reference_batch");
  visit("reference_batch", options.reference_batch, "the global batch for which optimizer.lr is right", at_least(1));
  visit("warmup", options.warmup, "how long the rate rises to its target: steps, epochs or % of the run", at_least(0));
  visit("warmup_start", options.warmup_start,
        "rate before warm-up as a factor of the target; 0: the first step is target / warm-up steps", between(0, 1));
  visit("decay", options.decay, "shape of the rate after warm-up");
  visit("milestones", options.milestones, "multi_step: when the rate drops, counted from the start of the run", at_least(0));
  visit("period", options.period, "step: between drops; cosine_restarts: the first cycle; wsd: the decay at the end",
        at_least(0));
  visit("period_factor", options.period_factor, "cosine_restarts: growth of each cycle", at_least(1));
  visit("gamma", options.gamma, "step and multi_step: factor of a drop; exponential: factor per epoch", above(0));
  visit("power", options.power, "polynomial: exponent", above(0));
  visit("final_factor", options.final_factor,
        "last rate of linear, polynomial, cosine and wsd, lowest of cosine_restarts, as a factor of the target", between(0, 1));
}

}  // namespace ddpkit
