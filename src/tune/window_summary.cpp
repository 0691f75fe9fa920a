#include "ddpkit/tune/window_summary.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace ddpkit {
namespace {

using Windows = std::span<const WindowOutcome>;

/// One number per window, made from its ranks by `of`.
template <class Of>
std::vector<double> over_windows(Windows windows, Of&& of) {
  std::vector<double> values;
  for (const WindowOutcome& window : windows) values.push_back(of(window.ranks));
  return values;
}

template <class Of>
std::vector<double> largest(Windows windows, Of&& of) {
  return over_windows(windows, [&](const std::vector<WindowReading>& ranks) {
    double most = 0;
    for (const WindowReading& rank : ranks) most = std::max(most, of(rank));
    return most;
  });
}

template <class Of>
std::vector<double> mean(Windows windows, Of&& of) {
  return over_windows(windows, [&](const std::vector<WindowReading>& ranks) {
    double sum = 0;
    for (const WindowReading& rank : ranks) sum += of(rank);
    return sum / static_cast<double>(ranks.size());
  });
}

double least_reduce(const std::vector<WindowReading>& ranks) {
  double least = std::numeric_limits<double>::infinity();
  for (const WindowReading& rank : ranks) least = std::min(least, rank.reduce_seconds);
  return least;
}

double median(const std::vector<double>& values) {
  return estimate(values).value;
}

/// Nothing where any rank does not know.
std::optional<double> busy_devices(Windows windows) {
  for (const WindowOutcome& window : windows)
    for (const WindowReading& rank : window.ranks)
      if (rank.device_busy < 0) return std::nullopt;
  return median(mean(windows, [](const WindowReading& rank) { return rank.device_busy; }));
}

std::int64_t most_bytes(Windows windows, double WindowReading::*phase) {
  return static_cast<std::int64_t>(std::ranges::max(largest(windows, [&](const WindowReading& rank) { return rank.*phase; })));
}

std::vector<RankMemory> memory_of(Windows windows) {
  std::vector<RankMemory> memory(windows.front().ranks.size());
  for (const WindowOutcome& window : windows)
    for (std::size_t rank = 0; rank < memory.size(); ++rank) {
      memory[rank].peak = std::max(memory[rank].peak, static_cast<std::int64_t>(window.ranks[rank].peak()));
      memory[rank].limit = static_cast<std::int64_t>(window.ranks[rank].limit);
    }
  return memory;
}

/// The smallest growth from one window to the next on the rank where it is largest: caches that fill grow at first only.
std::int64_t growth_of(Windows windows) {
  constexpr std::size_t kEnough = 4;
  if (windows.size() < kEnough) return 0;
  double most = 0;
  for (std::size_t rank = 0; rank < windows.front().ranks.size(); ++rank) {
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 1; i < windows.size(); ++i)
      least = std::min(least, windows[i].ranks[rank].live - windows[i - 1].ranks[rank].live);
    most = std::max(most, least);
  }
  return static_cast<std::int64_t>(most);
}

}  // namespace

WindowSummary summarise(const BatchPlan& plan, std::span<const WindowOutcome> windows) {
  const auto accumulate = static_cast<double>(plan.accumulate);
  const auto phase = [&](double WindowReading::*seconds) {
    return median(largest(windows, [&](const WindowReading& rank) { return rank.*seconds; }));
  };
  const auto share = [&](double WindowReading::*seconds) {
    return median(mean(windows, [&](const WindowReading& rank) { return rank.*seconds / rank.total_seconds; }));
  };
  WindowSummary summary{.plan = plan, .windows = std::ssize(windows)};
  summary.step = estimate(largest(windows, [](const WindowReading& rank) { return rank.total_seconds; }));
  summary.micro = estimate(
      largest(windows, [&](const WindowReading& rank) { return (rank.forward_seconds + rank.backward_seconds) / accumulate; }));
  summary.phases = {.data = phase(&WindowReading::data_seconds),
                    .forward = phase(&WindowReading::forward_seconds),
                    .backward = phase(&WindowReading::backward_seconds),
                    .reduce = median(over_windows(windows, least_reduce)),
                    .update = phase(&WindowReading::update_seconds)};
  summary.data_share = share(&WindowReading::data_seconds);
  summary.communication_share = share(&WindowReading::reduce_seconds);
  summary.utilisation = busy_devices(windows).value_or(std::max(0.0, 1 - summary.data_share - summary.communication_share));
  summary.peaks = {.forward = most_bytes(windows, &WindowReading::forward_peak),
                   .backward = most_bytes(windows, &WindowReading::backward_peak),
                   .optimizer = most_bytes(windows, &WindowReading::optimizer_peak)};
  summary.memory = memory_of(windows);
  summary.growth = growth_of(windows);
  return summary;
}

std::int64_t WindowSummary::peak_bytes() const noexcept {
  return std::max({peaks.forward, peaks.backward, peaks.optimizer});
}

std::int64_t WindowSummary::limit_bytes() const noexcept {
  std::int64_t least = 0;
  for (const RankMemory& rank : memory)
    if (rank.limit > 0 && (least == 0 || rank.limit < least)) least = rank.limit;
  return least;
}

MicroMeasurement WindowSummary::measurement() const {
  return {.micro = plan.micro,
          .seconds = micro.value,
          .half_width = std::isfinite(micro.half_width) ? micro.half_width : micro.value,
          .repeats = windows,
          .peak_bytes = peak_bytes(),
          .data_share = data_share,
          .communication_share = communication_share,
          .utilisation = utilisation};
}

}  // namespace ddpkit
