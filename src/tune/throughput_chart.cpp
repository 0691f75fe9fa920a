#include <algorithm>
#include <cmath>
#include <limits>

#include "ddpkit/base/figures.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/batch/memory_model.hpp"
#include "ddpkit/batch/throughput_model.hpp"
#include "ddpkit/tune/tune_report.hpp"

namespace ddpkit {
namespace {

Chart::Series measured_series(const BatchProfile& profile) {
  Chart::Series series{.name = "measured, with 95 % interval", .mark = Chart::Mark::points};
  for (const MicroMeasurement& at : profile.measured) {
    const auto micro = static_cast<double>(at.micro);
    const double fastest = std::max(at.seconds - at.half_width, at.seconds / 2);  // an interval wider than that says nothing
    series.points.push_back({micro, micro / at.seconds, micro / (at.seconds + at.half_width), micro / fastest});
  }
  return series;
}

Chart::Series fitted_series(const ThroughputModel& model, double first, double last) {
  constexpr int kSteps = 64;
  const bool fit = model.basis() == ThroughputModel::Basis::fit;
  Chart::Series series{.name = fit ? "fit t0 + b / r" : "curve through the measurements", .mark = Chart::Mark::line};
  for (int i = 0; i <= kSteps; ++i) {
    const double micro = first * std::pow(last / first, static_cast<double>(i) / kSteps);
    series.points.push_back({micro, micro / model.seconds(micro)});
  }
  return series;
}

/// A strip between two sizes, over the whole height.
Chart::Series strip(std::string name, double from, double to, double height) {
  return {.name = std::move(name),
          .mark = Chart::Mark::band,
          .points = {{.x = from, .y = 0, .low = 0, .high = height}, {.x = to, .y = 0, .low = 0, .high = height}}};
}

double highest(const Chart::Series& series) {
  double most = 0;
  for (const Chart::Point& point : series.points) most = std::max(most, point.high);
  return most;
}

void add_memory(const BatchProfile& profile, Chart& chart) {
  for (const std::int64_t micro : profile.out_of_memory)
    chart.guides.push_back({Chart::Guide::Across::x, static_cast<double>(micro), "out of memory"});
  if (profile.memory_limit == 0 || !profile.out_of_memory.empty()) return;
  const double allowed = profile.memory_target * static_cast<double>(profile.memory_limit);
  const std::int64_t largest = MemoryModel(profile.measured).largest_within(allowed);
  const std::int64_t seen = profile.measured.back().micro;
  if (largest > 0 && largest <= 4 * seen)  // far beyond, it would squeeze what was measured
    chart.guides.push_back(
        {Chart::Guide::Across::x, static_cast<double>(largest), text(percent_figure(profile.memory_target), " of memory")});
}

}  // namespace

Chart throughput_chart(const BatchProfile& profile) {
  Chart chart{.title = text(profile.model, ": samples per second against micro-batch, ", profile.world_size,
                            profile.world_size == 1 ? " rank, " : " ranks, ", profile.device),
              .x = {.label = "micro-batch (samples)", .scale = Chart::Scale::log2},
              .y = {.label = "samples/s of one rank", .min = 0}};
  if (profile.measured.empty()) return chart;
  const ThroughputModel model(profile.measured);
  const auto first = static_cast<double>(profile.measured.front().micro);
  const auto last = static_cast<double>(profile.measured.back().micro);
  const Chart::Series points = measured_series(profile);
  const ThroughputModel::Knee knee = model.knee(profile.knee_efficiency);
  const bool in_sight = knee.micro >= first && knee.micro <= last;
  if (in_sight)
    chart.series.push_back(strip("knee, 95 % band", std::max(knee.low, first), std::min(knee.high, last), highest(points)));
  chart.series.push_back(fitted_series(model, first, last));
  chart.series.push_back(points);
  if (in_sight)
    chart.guides.push_back({Chart::Guide::Across::x, knee.micro,
                            text("knee: ", percent_figure(profile.knee_efficiency), " at ", figure(knee.micro))});
  add_memory(profile, chart);
  if (profile.choice)
    chart.guides.push_back(
        {Chart::Guide::Across::x, static_cast<double>(profile.choice->micro), text("choice: ", profile.choice->micro)});
  return chart;
}

}  // namespace ddpkit
