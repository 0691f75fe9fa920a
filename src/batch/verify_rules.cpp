#include "ddpkit/batch/verify_rules.hpp"

#include <algorithm>
#include <cmath>

#include "batch/plan_reason.hpp"
#include "ddpkit/base/figures.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit {
namespace {

constexpr double kMuchWaiting = 0.1;  // of the step

using State = ScalingPoint::State;

std::string joined(const std::vector<std::string>& items) {
  std::string list;
  for (std::size_t i = 0; i < items.size(); ++i) list += text(i == 0 ? "" : i + 1 == items.size() ? " and " : ", ", items[i]);
  return list;
}

std::string ranks_list(std::span<const ProbeFigures> probes) {
  std::vector<std::string> counts;
  for (const ProbeFigures& probe : probes) counts.push_back(text(probe.ranks));
  return text(joined(counts), counts == std::vector<std::string>{"1"} ? " rank" : " ranks");
}

std::vector<ProbeFigures> crowded_of(std::span<const ProbeFigures> probes) {
  std::vector<ProbeFigures> crowded;
  std::ranges::copy_if(probes, std::back_inserter(crowded), &ProbeFigures::crowded);
  return crowded;
}

std::string crowd_note(std::span<const ProbeFigures> probes) {
  const std::vector<ProbeFigures> crowded = crowded_of(probes);
  if (crowded.empty()) return "";
  return text(" On ", ranks_list(crowded), " there were more ranks than cores; that is not judged.");
}

std::string waiting_advice(const ProbeFigures& probe) {
  std::string advice;
  if (probe.data_share > kMuchWaiting)
    advice +=
        text("Ranks wait ", percent_figure(probe.data_share), " of the step for data: raise data.workers or data.prefetch. ");
  if (probe.communication_share > kMuchWaiting)
    advice += text("Ranks wait ", percent_figure(probe.communication_share),
                   " of the step for gradients: a larger micro-batch or more accumulation sends fewer per sample, a larger "
                   "comm.bucket_mib sends them in larger pieces; or look for a slow rank or network. ");
  return advice.empty() ? "" : advice.substr(0, advice.size() - 1);
}

ScalingPoint point_of(const ProbeFigures& base, const ProbeFigures& probe) {
  ScalingPoint point{.ranks = probe.ranks};
  if (&base == &probe) point.state = State::base;
  if (!base.ran() || !probe.ran()) {
    point.state = State::unknown;
    return point;
  }
  const double ratio = static_cast<double>(probe.ranks) / base.ranks;
  point.speedup = probe.samples_per_second / base.samples_per_second;
  point.efficiency = point.speedup / ratio;
  point.range = {point.efficiency, point.efficiency};
  if (&base == &probe) return point;
  if (probe.rate.low > 0 && base.rate.low > 0)
    point.range = {probe.rate.low / base.rate.high / ratio, probe.rate.high / base.rate.low / ratio};
  if (probe.crowded())
    point.state = State::crowded;
  else if (probe.device == "cpu" && probe.threads() != base.threads())
    point.state = State::uneven;
  return point;
}

Judgement judgement_of(const ScalingPoint& point) {
  if (point.efficiency >= kGoodScaling) return Judgement::good;
  return point.range.high < kFaultyScaling ? Judgement::bad : Judgement::look;
}

std::string scaling_sentence(const ScalingPoint& point, int base_ranks) {
  return text(ranks_text(point.ranks), " make ", figure(point.speedup), " times the samples per second of ",
              ranks_text(base_ranks), ": ", percent_figure(point.efficiency),
              " of what the number of ranks promises (95 % interval ", percent_figure(point.range.low), " to ",
              percent_figure(point.range.high), ").");
}

std::string scaling_advice(const ProbeFigures& probe) {
  const std::string waiting = waiting_advice(probe);
  if (!waiting.empty()) return waiting;
  return "Ranks do not wait, so each computes slower beside the others: they share caches and memory, or cores that are not "
         "bound "
         "(mpirun --bind-to core).";
}

std::string unjudged_sentence(std::span<const ProbeFigures> probes, std::span<const ScalingPoint> points) {
  if (probes.size() < 2) return "Only one number of ranks was measured, so there is nothing to compare.";
  const bool uneven = std::ranges::any_of(points, [](const ScalingPoint& p) { return p.state == State::uneven; });
  if (uneven) return "Ranks had other numbers of threads than the ranks they are compared with.";
  const bool unknown = std::ranges::any_of(points, [](const ScalingPoint& p) { return p.state == State::unknown; });
  return unknown ? "For want of memory there are not two numbers of ranks to compare." : "Nothing could be compared.";
}

Finding undisturbed(Finding finding, const std::string& disturbance) {
  if (disturbance.empty()) return finding;
  finding.judgement = Judgement::open;
  finding.sentence += ' ' + disturbance;
  finding.advice = "Measure again on a machine that does nothing else, or over more windows.";
  return finding;
}

std::string memory_advice(const ProbeFigures& probe) {
  return text(
      "Lower batch.micro (", grouped(probe.plan.micro),
      " here) and let accumulation keep the global batch, or raise memory.limit where the device has more; the verb tune finds "
      "the largest that fits.");
}

Finding out_of_memory(const ProbeFigures& probe) {
  return {.dimension = "memory",
          .judgement = Judgement::bad,
          .figure = "too little",
          .threshold = text("at most ", percent_figure(probe.memory_target)),
          .sentence =
              text("On ", ranks_text(probe.ranks), " a window ", probe.verdict.empty() ? "does not fit" : probe.verdict, '.'),
          .advice = memory_advice(probe)};
}

const LossCurve* short_one(std::span<const LossCurve> curves, std::int64_t wanted_steps) {
  for (const LossCurve& curve : curves)
    if (static_cast<std::int64_t>(curve.losses.size()) < wanted_steps) return &curve;
  return nullptr;
}

const LossCurve* with_other_samples(std::span<const LossCurve> curves) {
  for (const LossCurve& curve : curves)
    if (curve.samples != curves.front().samples) return &curve;
  return nullptr;
}

const LossCurve* not_finite(std::span<const LossCurve> curves) {
  for (const LossCurve& curve : curves)
    if (!std::ranges::all_of(curve.losses, [](double loss) { return std::isfinite(loss); })) return &curve;
  return nullptr;
}

Finding convergence(Judgement judgement, std::string figure, std::string sentence, std::string advice = {}) {
  return {.dimension = "convergence",
          .judgement = judgement,
          .figure = std::move(figure),
          .threshold = text("at most ", percent_figure(kSameLoss), " of the loss apart"),
          .sentence = std::move(sentence),
          .advice = std::move(advice)};
}

double mean_distance(const LossCurve& a, const LossCurve& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.losses.size(); ++i) sum += std::abs(a.losses[i] - b.losses[i]);
  return sum / static_cast<double>(a.losses.size());
}

// The first loss comes before any update, so it tells a layer that sees the plan from an update that does.
std::string convergence_advice(const CurveDifference& difference) {
  if (difference.first > kSameFirstLoss)
    return "Already the first loss differs, before any update: a layer sees the micro-batch (batch norm; dropout, which draws "
           "for each "
           "micro-batch), or the loss is no mean over its rows. Batch norm over few samples is another model: keep the "
           "micro-batch, or "
           "take group or layer norm.";
  return "The first losses agree and later ones do not, so the update depends on the plan: see that the loss function returns "
         "the "
         "mean with its count (rows or tokens), and that nothing else divides by accumulation or ranks.";
}

std::string rounding_figure(double difference) {
  if (difference == 0) return "0 %";
  return difference < 1e-4 ? "below 0.01 %" : text(figure(100 * difference), " %");
}

Finding judge_difference(const LossCurve& reference, const LossCurve& other, std::size_t count, std::int64_t steps) {
  const CurveDifference difference = difference_of(reference, other);
  const std::string far = percent_figure(difference.largest);
  if (difference.largest <= kSameLoss)
    return convergence(
        Judgement::good, rounding_figure(difference.largest),
        text(count, " plans with one global batch give the same losses over ", grouped(steps), " steps, within rounding."));
  const std::string where =
      text(other.name(), " is ", far, " of the loss away from ", reference.name(), " at step ", grouped(difference.at));
  if (mean_distance(reference, other) <= scatter_of(reference))
    return convergence(Judgement::look, far,
                       text(where, ": more than rounding, but less than the loss scatters from step to step."),
                       convergence_advice(difference));
  return convergence(Judgement::bad, far,
                     text(where, ": more than rounding, and more than the loss scatters from step to step."),
                     convergence_advice(difference));
}

}  // namespace

std::string disturbance_of(std::span<const ProbeFigures> probes, double most_other_work) {
  for (const ProbeFigures& probe : probes)
    if (!probe.crowded() && probe.other_work > most_other_work)
      return text("Other programs took ", percent_figure(probe.other_work), " of the cores' time during the probe on ",
                  ranks_text(probe.ranks), ", so this says little.");
  for (const ProbeFigures& probe : probes)
    if (!probe.crowded() && probe.unsteady())
      return text("Windows on ", ranks_text(probe.ranks), " vary too much (95 % interval ", figure(probe.rate.low), " to ",
                  figure(probe.rate.high), " samples/s), so this says little.");
  return "";
}

std::vector<ScalingPoint> scaling_of(std::span<const ProbeFigures> probes) {
  std::vector<ScalingPoint> points;
  for (const ProbeFigures& probe : probes) points.push_back(point_of(probes.front(), probe));
  return points;
}

Finding judge_utilisation(std::span<const ProbeFigures> probes, double most_other_work) {
  Finding finding{
      .dimension = "utilisation", .figure = "-", .threshold = text("at least ", percent_figure(kBusy), " of the step")};
  const ProbeFigures* worst = nullptr;
  for (const ProbeFigures& probe : probes)
    if (probe.ran() && !probe.crowded() && (worst == nullptr || probe.utilisation < worst->utilisation)) worst = &probe;
  if (worst == nullptr) {
    finding.sentence = "No probe ran with a core for each rank." + crowd_note(probes);
    return finding;
  }
  const double busy = worst->utilisation;
  finding.judgement = busy >= kBusy ? Judgement::good : busy >= kStarved ? Judgement::look : Judgement::bad;
  finding.figure = percent_figure(busy);
  finding.sentence =
      text("On ", ranks_text(worst->ranks), " the step is ", percent_figure(busy), " work, ", percent_figure(worst->data_share),
           " waiting for data and ", percent_figure(worst->communication_share), " for gradients.", crowd_note(probes));
  if (finding.judgement != Judgement::good) finding.advice = waiting_advice(*worst);
  return undisturbed(std::move(finding), disturbance_of(probes, most_other_work));
}

Finding judge_scaling(std::span<const ProbeFigures> probes, double most_other_work) {
  Finding finding{.dimension = "scaling", .figure = "-", .threshold = text("at least ", percent_figure(kFaultyScaling))};
  const std::vector<ScalingPoint> points = scaling_of(probes);
  const ScalingPoint* worst = nullptr;
  for (const ScalingPoint& point : points)
    if (point.state == State::judged && (worst == nullptr || point.efficiency < worst->efficiency)) worst = &point;
  if (worst == nullptr) {
    const bool by_crowd = !crowded_of(probes).empty();
    finding.sentence = by_crowd ? crowd_note(probes).substr(1) : unjudged_sentence(probes, points);
    if (by_crowd) finding.advice = "Measure scaling on a machine with a core for each rank.";
    return finding;
  }
  finding.judgement = judgement_of(*worst);
  finding.figure = percent_figure(worst->efficiency);
  finding.sentence = scaling_sentence(*worst, probes.front().ranks) + crowd_note(probes);
  if (finding.judgement != Judgement::good)
    finding.advice = scaling_advice(probes[static_cast<std::size_t>(worst - points.data())]);
  return undisturbed(std::move(finding), disturbance_of(probes, most_other_work));
}

Finding judge_memory(std::span<const ProbeFigures> probes) {
  Finding finding{.dimension = "memory", .figure = "-", .threshold = "at most memory.target"};
  const ProbeFigures* fullest = nullptr;
  const auto share = [](const ProbeFigures& probe) {
    const ProbeFigures::Memory* rank = probe.fullest();
    return rank == nullptr ? -1 : static_cast<double>(rank->peak_bytes) / static_cast<double>(rank->limit_bytes);
  };
  for (const ProbeFigures& probe : probes) {
    if (!probe.ran()) return out_of_memory(probe);
    if (share(probe) >= 0 && (fullest == nullptr || share(probe) > share(*fullest))) fullest = &probe;
  }
  if (fullest == nullptr) {
    finding.sentence = "No limit of memory is known on this device; memory.limit sets one.";
    return finding;
  }
  const ProbeFigures::Memory& rank = *fullest->fullest();
  const bool fits = share(*fullest) <= fullest->memory_target;
  finding.judgement = fits ? Judgement::good : Judgement::bad;
  finding.figure = percent_figure(share(*fullest));
  finding.threshold = text("at most ", percent_figure(fullest->memory_target));
  finding.sentence =
      text("Rank ", rank.rank, " of ", fullest->ranks, " has ", bytes_figure(static_cast<double>(rank.peak_bytes)), " of ",
           bytes_figure(static_cast<double>(rank.limit_bytes)), " at the peak, with micro-batch ", grouped(fullest->plan.micro),
           ".");
  if (!fits) finding.advice = memory_advice(*fullest);
  return finding;
}

Finding judge_convergence(std::span<const LossCurve> curves, std::int64_t wanted_steps) {
  if (curves.size() < 2)
    return convergence(Judgement::open, "-", "The global batch can be made in one way only on these ranks.",
                       "Choose a global batch with more divisors, such as a multiple of 8 times the ranks.");
  if (const LossCurve* curve = not_finite(curves))
    return convergence(Judgement::bad, "not finite", text("With ", curve->name(), " the loss is not finite."),
                       "Lower the learning rate, lengthen the warm-up, or look for samples that are not finite.");
  if (const LossCurve* curve = short_one(curves, wanted_steps))
    return convergence(Judgement::bad, "too short",
                       text(curve->name(), " made ", curve->losses.size(), " of ", grouped(wanted_steps), " steps."),
                       "See that nothing but run.steps ends the run.");
  if (const LossCurve* curve = with_other_samples(curves))
    return convergence(Judgement::bad, "samples",
                       text(curve->name(), " used other numbers of samples than ", curves.front().name(), "."),
                       "Samples are lost or used twice: look at the data set's size on each rank and at data.tail.");
  const auto distance = [&](const LossCurve& curve) { return difference_of(curves.front(), curve).largest; };
  const LossCurve& furthest = *std::ranges::max_element(curves.subspan(1), {}, distance);
  return judge_difference(curves.front(), furthest, curves.size(), wanted_steps);
}

}  // namespace ddpkit
