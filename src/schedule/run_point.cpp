#include "ddpkit/schedule/run_point.hpp"

#include <algorithm>
#include <cmath>

namespace ddpkit {
namespace {

// 0.1 epochs of 30 samples are 3.0000000000000004 in binary and are reached after 3.
constexpr double kRounding = 1e-9;

enum class Clock { steps, samples };

Clock clock_of(const Extent& extent, const RunBounds& run) {
  if (extent.unit == Extent::Unit::percent) return run.steps > 0 ? Clock::steps : Clock::samples;
  return extent.unit == Extent::Unit::steps ? Clock::steps : Clock::samples;
}

double length_of(const Extent& extent, const RunBounds& run) {
  const auto samples = static_cast<double>(run.samples);
  switch (extent.unit) {
    case Extent::Unit::steps: return extent.amount;
    case Extent::Unit::epochs: return extent.amount * samples;
    case Extent::Unit::percent: break;
  }
  const double whole = run.steps > 0 ? static_cast<double>(run.steps) : static_cast<double>(run.epochs) * samples;
  return whole * extent.amount / 100;
}

double time_of(const RunPoint& point, Clock clock, const RunBounds& run) {
  return static_cast<double>(clock == Clock::steps ? point.step : point.epoch * run.samples + point.position);
}

}  // namespace

std::int64_t laps(const Extent& every, const RunPoint& point, const RunBounds& run) {
  const double length = length_of(every, run);
  if (!(length > 0)) return 0;
  const double count = time_of(point, clock_of(every, run), run) / length;
  return static_cast<std::int64_t>(std::floor(count + kRounding * std::max(1.0, count)));
}

bool has_passed(const Extent& stretch, const RunPoint& from, const RunPoint& point, const RunBounds& run) {
  const Clock clock = clock_of(stretch, run);
  const double length = length_of(stretch, run);
  return time_of(point, clock, run) - time_of(from, clock, run) >= length - kRounding * std::max(1.0, length);
}

std::int64_t windows_until(const Extent& stretch, const RunPoint& point, std::int64_t global, const RunBounds& run) {
  const Clock clock = clock_of(stretch, run);
  const double length = length_of(stretch, run);
  const double left = length - kRounding * std::max(1.0, length) - time_of(point, clock, run);
  const double windows = std::ceil(clock == Clock::steps ? left : left / static_cast<double>(global));
  return static_cast<std::int64_t>(std::clamp(windows, 0.0, 1e15));
}

}  // namespace ddpkit
