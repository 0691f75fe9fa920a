#include <algorithm>
#include <cmath>

#include "ddpkit/base/figures.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/observe/html_page.hpp"
#include "verification.hpp"

namespace ddpkit::tool {
namespace {

using State = ScalingPoint::State;

constexpr std::size_t kMostPoints = 300;  // of one curve, which a picture cannot show more of

HtmlPage::Verdict verdict_of(Judgement judgement) {
  switch (judgement) {
    case Judgement::good: return HtmlPage::Verdict::good;
    case Judgement::bad: return HtmlPage::Verdict::bad;
    default: return HtmlPage::Verdict::warning;
  }
}

std::string ranks_text(const std::vector<int>& ranks) {
  std::string list;
  for (std::size_t i = 0; i < ranks.size(); ++i) list += text(i == 0 ? "" : i + 1 == ranks.size() ? " and " : ", ", ranks[i]);
  return list + (ranks == std::vector{1} ? " rank" : " ranks");
}

std::string summary(const std::vector<Finding>& findings) {
  const auto count = [&](Judgement judgement) { return std::ranges::count(findings, judgement, &Finding::judgement); };
  if (count(Judgement::good) == std::ssize(findings)) return "All four dimensions are good.";
  std::string parts;
  for (const Judgement judgement : {Judgement::bad, Judgement::look, Judgement::open, Judgement::good})
    if (count(judgement) > 0) parts += text(parts.empty() ? "" : ", ", count(judgement), ' ', word_for(judgement));
  return text("Of four dimensions: ", parts, '.');
}

void add_findings(HtmlPage& page, const std::vector<Finding>& findings) {
  for (const Finding& finding : findings)
    page.verdict(
        verdict_of(finding.judgement), finding.dimension, finding.judgement == Judgement::open ? "not judged" : finding.figure,
        text(finding.sentence, " Wanted: ", finding.threshold, '.', finding.advice.empty() ? "" : " ", finding.advice));
}

Chart scaling_chart(const std::vector<ProbeFigures>& probes) {
  const int base = probes.front().ranks, most = probes.back().ranks;
  Chart chart{
      .title = "Speed against ranks",
      .x = {.label = "ranks", .scale = Chart::Scale::log2},
      .y = {.label = text("samples per second, ", base, base == 1 ? " rank" : " ranks", " = 1"), .scale = Chart::Scale::log2},
      .series = {},
      .guides = {}};
  chart.series.push_back({"proportional to the ranks",
                          Chart::Mark::dashes,
                          {{.x = double(base), .y = 1}, {.x = double(most), .y = double(most) / base}}});
  Chart::Series judged{"measured, with its 95 % interval", Chart::Mark::points, {}},
      crowded{"more ranks than cores, not judged", Chart::Mark::points, {}};
  for (const ScalingPoint& point : scaling_of(probes)) {
    if (point.state == State::unknown) continue;
    const double ratio = static_cast<double>(point.ranks) / base;
    auto& points = point.state == State::judged || point.state == State::base ? judged.points : crowded.points;
    points.push_back({static_cast<double>(point.ranks), point.speedup, point.range.low * ratio, point.range.high * ratio});
  }
  chart.series.push_back(std::move(judged));
  if (!crowded.points.empty()) chart.series.push_back(std::move(crowded));
  return chart;
}

TextTable scaling_table(const std::vector<ProbeFigures>& probes) {
  TextTable table(
      {{"ranks"}, {"samples/s"}, {"95 % interval"}, {"efficiency"}, {"work"}, {"data wait"}, {"gradient wait"}, {"threads"}});
  const std::vector<ScalingPoint> points = scaling_of(probes);
  for (std::size_t i = 0; i < probes.size(); ++i) {
    const ProbeFigures& probe = probes[i];
    if (!probe.ran()) {
      table.add({text(probe.ranks), "out of memory", "", "", "", "", "", text(probe.threads())});
      continue;
    }
    table.add({text(probe.ranks), figure(probe.samples_per_second),
               probe.rate.low > 0 ? text(figure(probe.rate.low), " to ", figure(probe.rate.high)) : "",
               points[i].state == State::unknown ? "" : percent_figure(points[i].efficiency), percent_figure(probe.utilisation),
               percent_figure(probe.data_share), percent_figure(probe.communication_share), text(probe.threads())});
  }
  return table;
}

TextTable phase_table(const std::vector<ProbeFigures>& probes) {
  std::vector<TextTable::Column> columns{{"ranks"}};
  for (const ProbeFigures::Phase& phase : probes.front().phases)
    columns.push_back({phase.name == "data" ? "wait for data" : phase.name == "reduce" ? "wait for gradients" : phase.name});
  TextTable table(columns);
  for (const ProbeFigures& probe : probes) {
    std::vector<std::string> cells{text(probe.ranks)};
    for (const ProbeFigures::Phase& phase : probe.phases) cells.push_back(probe.ran() ? seconds_figure(phase.seconds) : "");
    if (cells.size() == columns.size()) table.add(std::move(cells));
  }
  return table;
}

std::string threads_text(const ProbeFigures& probe) {
  const int threads = probe.threads();
  return text(threads, threads == 1 ? " thread" : " threads", probe.ranks == 1 ? "" : " each");
}

void add_speed(HtmlPage& page, const Verification& verification) {
  const std::vector<ProbeFigures>& probes = verification.probes;
  page.heading("Speed");
  page.paragraph(text("Micro-batch ", grouped(probes.front().plan.micro), " and accumulation ",
                      grouped(probes.front().plan.accumulate), " on every number of ranks; ",
                      grouped(verification.request.windows), " windows each."));
  page.chart(scaling_chart(probes));
  page.table(scaling_table(probes));
  for (const ProbeFigures& probe : probes)
    page.paragraph(text(probe.ranks, probe.ranks == 1 ? " rank: " : " ranks: ", binding_text(probe.placement), "; ",
                        threads_text(probe), "; other programs took ", percent_figure(probe.other_work), " of the cores' time.",
                        probe.crowded() ? " More ranks than cores." : ""));
  page.heading("Where a step's time goes");
  page.table(phase_table(probes));
}

void add_memory(HtmlPage& page, const std::vector<ProbeFigures>& probes) {
  page.heading("Memory");
  TextTable table({{"ranks"}, {"fullest rank"}, {"at the peak"}, {"limit"}, {"of the limit"}, {"target"}});
  for (const ProbeFigures& probe : probes) {
    const ProbeFigures::Memory* rank = probe.fullest();
    if (!probe.ran() || rank == nullptr) {
      table.add(
          {text(probe.ranks), "", probe.ran() ? "no limit known" : "ran out", "", "", percent_figure(probe.memory_target)});
      continue;
    }
    const double share = static_cast<double>(rank->peak_bytes) / static_cast<double>(rank->limit_bytes);
    table.add({text(probe.ranks), text(rank->rank), bytes_figure(static_cast<double>(rank->peak_bytes)),
               bytes_figure(static_cast<double>(rank->limit_bytes)), percent_figure(share),
               percent_figure(probe.memory_target)});
  }
  page.table(table);
}

std::size_t stride_of(std::size_t points) {
  return std::max<std::size_t>(1, (points + kMostPoints - 1) / kMostPoints);
}

Chart loss_chart(const std::vector<LossCurve>& curves) {
  Chart chart{.title = "Loss", .x = {.label = "step"}, .y = {.label = "training loss"}, .series = {}, .guides = {}};
  for (const LossCurve& curve : curves) {
    Chart::Series series{curve.name(), chart.series.empty() ? Chart::Mark::line : Chart::Mark::dashes, {}};
    for (std::size_t i = 0; i < curve.losses.size(); i += stride_of(curve.losses.size()))
      series.points.push_back({.x = static_cast<double>(i + 1), .y = curve.losses[i]});
    chart.series.push_back(std::move(series));
  }
  return chart;
}

// Of the steps that share a point, the one that is furthest away.
Chart difference_chart(const std::vector<LossCurve>& curves) {
  Chart chart{.title = "Distance from the first plan",
              .x = {.label = "step"},
              .y = {.label = "part of the loss", .scale = Chart::Scale::log10},
              .series = {},
              .guides = {{.axis = Chart::Guide::Across::y, .at = kSameLoss, .label = "rounding ends here"}}};
  // Without points, so that each plan has the colour that it has among the losses.
  chart.series.push_back({curves.front().name() + " (the first)", Chart::Mark::line, {}});
  for (const LossCurve& curve : std::span(curves).subspan(1)) {
    Chart::Series series{curve.name(), Chart::Mark::points, {}};
    const std::vector<double> differences = relative_differences(curves.front(), curve);
    const std::size_t stride = stride_of(differences.size());
    for (std::size_t i = 0; i < differences.size(); i += stride) {
      const auto block = std::span(differences).subspan(i, std::min(stride, differences.size() - i));
      series.points.push_back({.x = static_cast<double>(i + 1), .y = *std::ranges::max_element(block)});
    }
    chart.series.push_back(std::move(series));
  }
  return chart;
}

TextTable curve_table(const std::vector<LossCurve>& curves) {
  TextTable table({{"ranks"}, {"micro"}, {"accumulate"}, {"first loss"}, {"last loss"}, {"largest distance"}, {"at step"}});
  for (const LossCurve& curve : curves) {
    const CurveDifference difference = difference_of(curves.front(), curve);
    const bool first = &curve == &curves.front();
    table.add({text(curve.ranks), grouped(curve.plan.micro), grouped(curve.plan.accumulate),
               curve.losses.empty() ? "" : fixed_figure(curve.losses.front(), 4),
               curve.losses.empty() ? "" : fixed_figure(curve.losses.back(), 4),
               first ? "" : text(figure(difference.largest), " of it"), first ? "" : grouped(difference.at)});
  }
  return table;
}

void add_convergence(HtmlPage& page, const Verification& verification) {
  if (verification.curves.empty()) return;
  page.heading("Plans with one global batch");
  page.paragraph(text("The first ", grouped(verification.request.steps), " steps with global batch ",
                      grouped(verification.global), ", from the same weights and samples."));
  page.chart(loss_chart(verification.curves));
  if (verification.curves.size() > 1) page.chart(difference_chart(verification.curves));
  page.table(curve_table(verification.curves));
}

}  // namespace

std::string verification_page(const Verification& verification) {
  HtmlPage page(text(verification.run_name, ": the batch verified on ", ranks_text(verification.request.ranks)));
  page.paragraph(text(summary(verification.findings), " Global batch ", grouped(verification.global), ", ",
                      verification.request.program.front(), " with ", verification.request.config, ", ", verification.time,
                      '.'));
  add_findings(page, verification.findings);
  add_speed(page, verification);
  add_memory(page, verification.probes);
  add_convergence(page, verification);
  return page.str();
}

}  // namespace ddpkit::tool
