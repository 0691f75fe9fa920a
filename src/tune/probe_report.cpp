#include "ddpkit/tune/probe_report.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "ddpkit/base/figures.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/base/text_table.hpp"

namespace ddpkit {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kMuchWaiting = 0.1;  ///< part of the step

std::size_t fullest_rank(const ProbeReport& report) {
  const std::vector<RankMemory>& memory = report.summary.memory;
  const auto share = [](const RankMemory& rank) {
    return rank.limit > 0 ? static_cast<double>(rank.peak) / static_cast<double>(rank.limit) : 0;
  };
  return static_cast<std::size_t>(std::ranges::max_element(memory, {}, share) - memory.begin());
}

std::string_view fullest_phase(const PhasePeaks& peaks) {
  if (peaks.forward >= std::max(peaks.backward, peaks.optimizer)) return "forward";
  return peaks.backward >= peaks.optimizer ? "backward" : "the optimizer";
}

std::string batch_text(const BatchPlan& plan, int world_size) {
  return text("global batch ", grouped(plan.global), " = micro ", grouped(plan.micro), " x accumulate ",
              grouped(plan.accumulate), " x ", world_size, world_size == 1 ? " rank" : " ranks");
}

std::string memory_verdict(const ProbeReport& report) {
  const std::int64_t peak = report.summary.peak_bytes();
  if (peak == 0) return "memory is not measured on this device";
  const std::size_t rank = fullest_rank(report);
  const RankMemory& fullest = report.summary.memory[rank];
  std::string of_limit = text(bytes_figure(static_cast<double>(fullest.peak)));
  if (fullest.limit > 0)
    of_limit +=
        text(" of ", bytes_figure(static_cast<double>(fullest.limit)), " (", percent_figure(report.memory_share()), ")");
  const std::string where = text(of_limit, " at the peak, in ", fullest_phase(report.summary.peaks), " on rank ", rank);
  if (fullest.limit == 0) return text("runs, without a limit to compare with: ", where);
  const std::string target = text("memory.target is ", percent_figure(report.memory_target));
  if (report.fits()) return text("fits: ", where, "; ", target);
  return text("fits without the wanted headroom: ", where, "; ", target, "; lower batch.micro or raise memory.limit");
}

std::string time_verdict(const ProbeReport& report) {
  const WindowSummary& summary = report.summary;
  std::string verdict = text("ranks work ", percent_figure(summary.utilisation), " of the step");
  if (summary.data_share > kMuchWaiting)
    verdict += text("; they wait ", percent_figure(summary.data_share), " of it for data: raise data.workers or data.prefetch");
  if (summary.communication_share > kMuchWaiting)
    verdict += text("; they wait ", percent_figure(summary.communication_share),
                    " of it for gradients: more accumulation sends fewer, or look for a slow rank or network");
  return verdict;
}

std::string crowding(const ProbeReport& report) {
  const auto crowded = [](const Placement& rank) { return rank.oversubscribed; };
  if (std::ranges::none_of(report.placement, crowded)) return {};
  return "; ranks have more threads than there are cores, so times say little about a machine with enough";
}

std::string phase_table(const WindowSummary& summary) {
  const auto memory = [](std::int64_t bytes) { return bytes == 0 ? "" : bytes_figure(static_cast<double>(bytes)); };
  const auto share = [&](double seconds) { return percent_figure(seconds / summary.step.value); };
  const PhaseSeconds& time = summary.phases;
  TextTable table({{"phase", TextTable::Align::left}, {"time"}, {"of the step"}, {"memory at the peak"}});
  const auto row = [&](std::string name, double seconds, std::int64_t bytes) {
    table.add({std::move(name), seconds_figure(seconds), share(seconds), memory(bytes)});
  };
  row("waiting for data", time.data, 0);
  row("forward", time.forward, summary.peaks.forward);
  row("backward", time.backward, summary.peaks.backward);
  row("waiting for gradients", time.reduce, 0);
  row("update", time.update, summary.peaks.optimizer);
  return table.str();
}

Json placement_json(const ProbeReport& report) {
  Json list = Json::array();
  for (const Placement& rank : report.placement)
    list.push_back({{"rank", rank.rank},
                    {"host", rank.host},
                    {"cores", rank.cores},
                    {"threads", rank.threads},
                    {"oversubscribed", rank.oversubscribed}});
  return list;
}

Json memory_json(const ProbeReport& report) {
  Json ranks = Json::array();
  for (std::size_t rank = 0; rank < report.summary.memory.size(); ++rank)
    ranks.push_back(
        {{"rank", rank}, {"peak_bytes", report.summary.memory[rank].peak}, {"limit_bytes", report.summary.memory[rank].limit}});
  const PhasePeaks& peaks = report.summary.peaks;
  return {{"limit_bytes", report.summary.limit_bytes()},
          {"target", report.memory_target},
          {"peak_bytes", {{"forward", peaks.forward}, {"backward", peaks.backward}, {"optimizer", peaks.optimizer}}},
          {"ranks", ranks}};
}

/// Of a single window there is no interval.
Json step_json(const Estimate& step) {
  const double width = std::isfinite(step.half_width) ? step.half_width : 0;
  return {{"median", step.value}, {"low", std::max(0.0, step.value - width)}, {"high", step.value + width}};
}

}  // namespace

double ProbeReport::memory_share() const noexcept {
  double most = 0;
  for (const RankMemory& rank : summary.memory)
    if (rank.limit > 0) most = std::max(most, static_cast<double>(rank.peak) / static_cast<double>(rank.limit));
  return most;
}

std::string verdict(const ProbeReport& report) {
  if (!report.out_of_memory.empty())
    return text("does not fit: ", report.out_of_memory, "; lower batch.micro (`tune` finds the largest) or raise memory.limit");
  std::string words = text(memory_verdict(report), "; ", time_verdict(report), crowding(report));
  if (report.summary.growth > 0)
    words += text("; memory grows by ", bytes_figure(static_cast<double>(report.summary.growth)),
                  " with each window: does the loss function keep a loss or an output?");
  if (report.not_finite > 0)
    words += text("; in ", report.not_finite, report.not_finite == 1 ? " window" : " windows",
                  " a loss or gradient was not finite, with the weights that the run begins with: look at the data");
  return words;
}

std::string probe_text(const ProbeReport& report) {
  const WindowSummary& summary = report.summary;
  const std::string batch = batch_text(summary.plan, report.world_size);
  if (!report.out_of_memory.empty()) return text(batch, "\n", verdict(report));
  std::string step = text(seconds_figure(summary.step.value), " a step");
  if (summary.windows > 1 && std::isfinite(summary.step.half_width))
    step += text(" (", seconds_figure(summary.step.low()), " to ", seconds_figure(summary.step.high()), ", ", summary.windows,
                 " windows)");
  return text(batch, "\n", step, ", ", figure(summary.samples_per_second()), " samples/s\n", phase_table(summary), "\n",
              verdict(report));
}

std::string probe_json(const ProbeReport& report) {
  const WindowSummary& summary = report.summary;
  const PhaseSeconds& phases = summary.phases;
  const bool ran = summary.windows > 0;
  return Json{
      {"verb", "probe"},
      {"world_size", report.world_size},
      {"nodes", report.nodes},
      {"device", report.device},
      {"batch", {{"global", summary.plan.global}, {"micro", summary.plan.micro}, {"accumulate", summary.plan.accumulate}}},
      {"windows", summary.windows},
      {"samples_per_second", ran ? Json(summary.samples_per_second()) : Json()},
      {"step_seconds", step_json(summary.step)},
      {"phase_seconds",
       {{"data", phases.data},
        {"forward", phases.forward},
        {"backward", phases.backward},
        {"reduce", phases.reduce},
        {"update", phases.update}}},
      {"utilisation", summary.utilisation},
      {"data_share", summary.data_share},
      {"communication_share", summary.communication_share},
      {"memory", memory_json(report)},
      {"placement", placement_json(report)},
      {"fits", report.fits()},
      {"verdict", verdict(report)}}
      .dump(2);
}

}  // namespace ddpkit
