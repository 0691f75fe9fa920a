#include "harness/estimate.hpp"

#include <algorithm>
#include <cstddef>
#include <random>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"

namespace bench {
namespace {

constexpr int kResamples = 2000;
constexpr std::uint64_t kSeed = 20200615;

// The same on every standard library, which std::uniform_int_distribution is not.
std::size_t draw_below(std::mt19937_64& generator, std::size_t bound) {
  return generator() % bound;
}

double resampled(std::span<const double> ours, std::span<const double> theirs, Statistic statistic,
                 std::mt19937_64& generator) {
  std::vector<double> drawn_ours, drawn_theirs;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const std::size_t round = draw_below(generator, ours.size());
    drawn_ours.push_back(ours[round]);
    drawn_theirs.push_back(theirs[round]);
  }
  return statistic(median(std::move(drawn_ours)), median(std::move(drawn_theirs)));
}

}  // namespace

double ratio(double ours, double theirs) {
  return ours / theirs;
}
double speed_up(double ours, double theirs) {
  return theirs / ours;
}
double difference(double ours, double theirs) {
  return ours - theirs;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

Estimate estimate(std::span<const double> ours, std::span<const double> theirs, Statistic statistic) {
  if (ours.empty() || ours.size() != theirs.size())
    throw ddpkit::UsageError(
        ddpkit::text("estimate: ", ours.size(), " rounds against ", theirs.size(), "; one or more of each"));
  std::mt19937_64 generator(kSeed);
  std::vector<double> values(kResamples);
  for (double& value : values) value = resampled(ours, theirs, statistic, generator);
  std::ranges::sort(values);
  return {.value = statistic(median({ours.begin(), ours.end()}), median({theirs.begin(), theirs.end()})),
          .low = values[kResamples / 40],
          .high = values[kResamples - 1 - kResamples / 40]};
}

}  // namespace bench
