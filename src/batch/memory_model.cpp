#include "ddpkit/batch/memory_model.hpp"

#include <algorithm>
#include <limits>

namespace ddpkit {

MemoryModel::MemoryModel(std::span<const MicroMeasurement> measured) {
  std::vector<Point> peaks;
  for (const MicroMeasurement& at : measured)
    if (at.peak_bytes > 0) peaks.push_back({static_cast<double>(at.micro), static_cast<double>(at.peak_bytes)});
  if (peaks.empty()) return;
  std::ranges::stable_sort(peaks, {}, &Point::micro);
  // What a larger size can do with, a smaller one can: no peak counts for more than any to its right.
  std::vector<Point> rising = peaks;
  for (std::size_t i = rising.size() - 1; i > 0; --i) rising[i - 1].bytes = std::min(rising[i - 1].bytes, rising[i].bytes);
  for (const Point& point : rising) add_to_hull(point);
  double ratios = 0;
  for (const Point& peak : peaks) ratios += peak.bytes / peak_bytes(peak.micro);
  raise(ratios / static_cast<double>(peaks.size()));
}

// Andrew's monotone chain: a corner at which the slope would not rise is none.
void MemoryModel::add_to_hull(Point point) {
  if (!points_.empty() && points_.back().micro == point.micro) return;
  while (points_.size() >= 2 && slope(points_[points_.size() - 2], points_.back()) >= slope(points_.back(), point))
    points_.pop_back();
  points_.push_back(point);
}

void MemoryModel::raise(double factor) {
  for (Point& point : points_) point.bytes *= factor;
}

double MemoryModel::peak_bytes(double micro) const {
  if (points_.size() < 2) return points_.empty() || micro > points_.front().micro ? 0 : points_.front().bytes;
  auto right = std::ranges::lower_bound(points_, micro, {}, &Point::micro);
  right = std::clamp(right, points_.begin() + 1, points_.end() - 1);
  const Point& left = *std::prev(right);
  return std::max(left.bytes + (micro - left.micro) * slope(left, *right), 0.0);
}

std::int64_t MemoryModel::largest_within(double bytes) const {
  constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();
  if (!known()) return kUnlimited;
  const auto fits = [&](std::int64_t micro) { return peak_bytes(static_cast<double>(micro)) <= bytes; };
  if (fits(kUnlimited)) return kUnlimited;
  std::int64_t low = 0, high = kUnlimited;  // low fits, or is none
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (fits(middle) ? low : high) = middle;
  }
  return low;
}

}  // namespace ddpkit
