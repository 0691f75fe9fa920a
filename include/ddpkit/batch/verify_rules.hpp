#pragma once

#include <span>
#include <string>
#include <vector>

#include "ddpkit/batch/finding.hpp"
#include "ddpkit/batch/loss_curve.hpp"
#include "ddpkit/batch/probe_figures.hpp"

// The proof of a batch in four dimensions: from figures to a verdict, a threshold and advice. Pure functions.

namespace ddpkit {

inline constexpr double kBusy = 0.9;            ///< of the step: from here on a device is used well
inline constexpr double kStarved = 0.7;         ///< of the step: below it a device waits too much
inline constexpr double kGoodScaling = 0.9;     ///< of a speed proportional to the ranks
inline constexpr double kFaultyScaling = 0.75;  ///< 8 devices under 6 times the speed of one are a fault
inline constexpr double kMostOtherWork = 0.1;   ///< of the cores' time, by other programs, while speed is measured
inline constexpr double kSameLoss = 1e-3;       ///< of the loss: up to here curves differ by rounding only
inline constexpr double kSameFirstLoss = 1e-4;  ///< likewise before the first update, where rounding has not grown

/// Speed on more ranks against the fewest ranks that were measured.
struct ScalingPoint {
  enum class State {
    base,  ///< what others are compared with
    judged,
    crowded,  ///< more ranks than cores: says nothing about scaling
    uneven,   ///< ranks had other numbers of threads than the base
    unknown,  ///< it did not run for want of memory
  };
  int ranks = 1;
  State state = State::judged;
  double speedup = 0;           ///< samples per second over the base's
  double efficiency = 0;        ///< speedup over the ratio of ranks
  ProbeFigures::Range range{};  ///< of the efficiency, from both 95 % intervals
};

/// One per probe, in order. `probes` begin with the fewest ranks, and all have equal micro-batch and accumulation.
std::vector<ScalingPoint> scaling_of(std::span<const ProbeFigures> probes);

/// What keeps speed from being judged: windows whose times vary too much, or other programs that took more than
/// `most_other_work` of the cores' time, with a core for each rank. Empty where nothing does.
std::string disturbance_of(std::span<const ProbeFigures> probes, double most_other_work);

/// Both are left open, with the figure, where there is a disturbance.
Finding judge_utilisation(std::span<const ProbeFigures> probes, double most_other_work = kMostOtherWork);
Finding judge_scaling(std::span<const ProbeFigures> probes, double most_other_work = kMostOtherWork);
Finding judge_memory(std::span<const ProbeFigures> probes);
/// All curves belong to plans with one global batch; the first is what the others are compared with.
Finding judge_convergence(std::span<const LossCurve> curves, std::int64_t wanted_steps);

}  // namespace ddpkit
