#include "ddpkit/train/best_tracker.hpp"

#include <cmath>

namespace ddpkit {

BestTracker::Verdict BestTracker::observe(double value) {
  const double gain = !state_.best ? INFINITY : options_.better == Better::higher ? value - *state_.best : *state_.best - value;
  const bool improved = std::isfinite(value) && gain > options_.min_delta;
  if (improved) {
    state_ = {.best = value, .without_improvement = 0};
    return {.improved = true};
  }
  ++state_.without_improvement;
  return {.stop = options_.patience > 0 && state_.without_improvement >= options_.patience};
}

}  // namespace ddpkit
