#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>

namespace ddpkit {

/// How fast a run goes, from its own counts of steps and samples over the last half minute. Never reads a clock.
class RateMeter {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// The run had finished so many steps and samples at `now`. The first call sets the start, so that a resumed run does not
  /// count what an earlier process did.
  void update(Time now, std::int64_t steps, std::int64_t samples);

  /// Samples in the window divided by its seconds; nothing before two updates at different times.
  std::optional<double> samples_per_second() const;

  /// Time until `total_steps` at the present rate of steps.
  std::optional<std::chrono::duration<double>> time_left(std::int64_t total_steps) const;

 private:
  struct Point {
    Time time;
    std::int64_t steps;
    std::int64_t samples;
  };
  double seconds() const;

  std::deque<Point> points_;  ///< at most a few dozen: closer ones replace the last
};

}  // namespace ddpkit
