#include "ddpkit/observe/rate_meter.hpp"

#include <algorithm>

namespace ddpkit {
namespace {

constexpr std::chrono::seconds kWindow{30};
constexpr std::chrono::milliseconds kSpacing{500};

}  // namespace

void RateMeter::update(Time now, std::int64_t steps, std::int64_t samples) {
  const bool close = points_.size() > 1 && now - points_[points_.size() - 2].time < kSpacing;
  if (close) points_.pop_back();
  points_.push_back({now, steps, samples});
  while (points_.size() > 2 && now - points_[1].time >= kWindow) points_.pop_front();
}

std::optional<double> RateMeter::samples_per_second() const {
  if (seconds() <= 0) return std::nullopt;
  return static_cast<double>(points_.back().samples - points_.front().samples) / seconds();
}

std::optional<std::chrono::duration<double>> RateMeter::time_left(std::int64_t total_steps) const {
  if (seconds() <= 0 || points_.back().steps <= points_.front().steps) return std::nullopt;
  const double seconds_per_step = seconds() / static_cast<double>(points_.back().steps - points_.front().steps);
  const std::int64_t left = std::max<std::int64_t>(0, total_steps - points_.back().steps);
  return std::chrono::duration<double>(static_cast<double>(left) * seconds_per_step);
}

double RateMeter::seconds() const {
  return points_.size() < 2 ? 0 : std::chrono::duration<double>(points_.back().time - points_.front().time).count();
}

}  // namespace ddpkit
