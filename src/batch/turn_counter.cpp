#include "ddpkit/batch/turn_counter.hpp"

#include <cmath>

namespace ddpkit {

std::int64_t TurnCounter::observe(double value) {
  if (!std::isfinite(value)) return state_.turns;
  if (state_.last && value != *state_.last) {
    const std::int64_t direction = value > *state_.last ? 1 : -1;
    const bool turned = state_.direction != 0 && direction != state_.direction;
    state_.turns = turned ? state_.turns + 1 : 0;
    state_.direction = direction;
  }
  state_.last = value;
  return state_.turns;
}

}  // namespace ddpkit
