#pragma once

#include <cstdint>
#include <optional>

namespace ddpkit {

/// Counts how often in a row a series has turned. It turns where it rises after a fall or falls after a rise; two values in one
/// direction end the row. Equal and not finite values are passed over.
class TurnCounter {
 public:
  struct State {
    std::optional<double> last;
    std::int64_t direction = 0;  ///< of the last change: -1, 1, or 0 before the first
    std::int64_t turns = 0;
  };

  /// The turns in a row up to `value`.
  std::int64_t observe(double value);
  /// The next value begins a new series.
  void clear() { state_ = {}; }

  const State& state() const noexcept { return state_; }
  void set_state(const State& state) { state_ = state; }

 private:
  State state_;
};

}  // namespace ddpkit
