#include "ddpkit/batch/choose_batch.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "batch/divisors.hpp"
#include "batch/enough_efficiency.hpp"
#include "ddpkit/base/error.hpp"
#include "ddpkit/base/figures.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/batch/memory_model.hpp"
#include "ddpkit/batch/throughput_model.hpp"

namespace ddpkit {
namespace {

/// What a profile says about micro-batches, measured or not.
class Predictor {
 public:
  explicit Predictor(const BatchProfile& profile) : profile_(profile), time_(profile.measured), memory_(profile.measured) {}

  RatedPlan rate(const BatchPlan& plan) const {
    const auto micro = static_cast<double>(plan.micro), accumulate = static_cast<double>(plan.accumulate);
    const double after = profile_.communication_seconds + profile_.update_seconds;
    RatedPlan rated{.plan = plan, .step_seconds = accumulate * time_.seconds(micro) + after};
    rated.samples_per_second = static_cast<double>(plan.global) / rated.step_seconds;
    rated.efficiency = (accumulate * micro / time_.plateau() + after) / rated.step_seconds;
    rated.peak_bytes = peak_bytes(plan.micro);
    if (profile_.memory_limit > 0) rated.memory_share = rated.peak_bytes / static_cast<double>(profile_.memory_limit);
    rated.fits = fits(rated);
    return rated;
  }

 private:
  double peak_bytes(std::int64_t micro) const {
    const auto at = std::ranges::lower_bound(profile_.measured, micro, {}, &MicroMeasurement::micro);
    const bool measured = at != profile_.measured.end() && at->micro == micro && at->peak_bytes > 0;
    return measured ? static_cast<double>(at->peak_bytes) : memory_.peak_bytes(static_cast<double>(micro));
  }

  bool fits(const RatedPlan& rated) const {
    const auto& failed = profile_.out_of_memory;
    if (!failed.empty() && rated.plan.micro >= failed.front()) return false;
    const bool extrapolated = rated.plan.micro > profile_.measured.back().micro;
    if (extrapolated && (profile_.memory_limit == 0 || !memory_.known())) return false;
    return rated.memory_share <= profile_.memory_target;
  }

  const BatchProfile& profile_;
  ThroughputModel time_;
  MemoryModel memory_;
};

std::int64_t micro_of(const RatedPlan& rated) {
  return rated.plan.micro;
}

std::int64_t local_share(std::int64_t global, std::int64_t world_size) {
  if (global < 1 || world_size < 1)
    throw ConfigError(text("batch.global ", global, " on ", world_size, " ranks: both must be positive"));
  if (global % world_size == 0) return global / world_size;
  const std::int64_t above = (global / world_size + 1) * world_size, below = above - world_size;
  throw ConfigError(text("batch.global ", global, " cannot be shared equally by ", world_size, " ranks; set it to ",
                         below > 0 ? text(below, " or ") : "", above));
}

void check_measured(const BatchProfile& profile) {
  if (!profile.measured.empty()) return;
  throw ConfigError(profile.out_of_memory.empty()
                        ? std::string("no micro-batch was measured; give tune.budget more time")
                        : text("even micro-batch ", profile.out_of_memory.front(),
                               " ran out of memory; lower tune.min_micro, raise memory.limit or make the model smaller"));
}

[[noreturn]] void refuse_all(const BatchProfile& profile, const RatedPlan& smallest) {
  const std::string need = smallest.memory_share > profile.memory_target
                               ? text("needs ", percent_figure(smallest.memory_share), " of memory, and memory.target allows ",
                                      percent_figure(profile.memory_target))
                               : std::string("is more than was found to fit");
  throw ConfigError(text("no micro-batch that makes batch.global ", grouped(smallest.plan.global), " fits: the smallest, ",
                         grouped(smallest.plan.micro), ", ", need, "; raise memory.limit or make the model smaller"));
}

std::string memory_text(const RatedPlan& rated) {
  return rated.memory_share > 0 ? percent_figure(rated.memory_share) : bytes_figure(rated.peak_bytes);
}

std::string cost(const BatchProfile& profile, const RatedPlan& next) {
  const auto& failed = profile.out_of_memory;
  if (!failed.empty() && next.plan.micro >= failed.front()) return " but runs out of memory";
  if (next.peak_bytes > 0) return text(" and needs ", memory_text(next));
  return next.fits ? "" : " but was not tried";
}

/// What the next larger size would bring and cost.
std::string compare(const BatchProfile& profile, const RatedPlan& chosen, const RatedPlan& next) {
  const double gain = next.samples_per_second / chosen.samples_per_second - 1;
  return text("; ", grouped(next.plan.micro), " would ", gain < 0 ? "lose " : "gain ", percent_figure(std::abs(gain)),
              cost(profile, next));
}

std::string explain(const RatedPlan& chosen) {
  return text("micro ", grouped(chosen.plan.micro), ": ", percent_figure(chosen.efficiency), " of the plateau",
              chosen.peak_bytes > 0 ? text(", ", memory_text(chosen), " of memory") : "");
}

/// Those that fit; of the sizes below the smallest measured one, of which little is known, only the nearest to it, and only for
/// want of others.
std::vector<RatedPlan> candidates(const BatchProfile& profile, const std::vector<RatedPlan>& plans) {
  std::vector<RatedPlan> fitting;
  std::ranges::copy_if(plans, std::back_inserter(fitting), &RatedPlan::fits);
  const auto known =
      std::ranges::find_if(fitting, [&](const RatedPlan& rated) { return rated.plan.micro >= profile.measured.front().micro; });
  const bool none_known = known == fitting.end() && !fitting.empty();
  fitting.erase(fitting.begin(), none_known ? fitting.end() - 1 : known);
  return fitting;
}

RatedPlan smallest_good_one(const std::vector<RatedPlan>& plans, double knee) {
  const double enough = enough_efficiency(knee, std::ranges::max(plans, {}, &RatedPlan::efficiency).efficiency);
  return *std::ranges::find_if(plans, [&](const RatedPlan& rated) { return rated.efficiency >= enough; });
}

}  // namespace

std::vector<RatedPlan> rate_plans(const BatchProfile& profile, std::span<const BatchPlan> plans) {
  check_measured(profile);
  const Predictor predictor(profile);
  std::vector<RatedPlan> rated;
  for (const BatchPlan& plan : plans) rated.push_back(predictor.rate(plan));
  return rated;
}

BatchChoice choose_among(const BatchProfile& profile, std::vector<RatedPlan> plans) {
  std::ranges::sort(plans, {}, micro_of);
  BatchChoice choice{.others = std::move(plans)};
  const std::vector<RatedPlan> fitting = candidates(profile, choice.others);
  if (fitting.empty()) refuse_all(profile, choice.others.front());
  choice.chosen = smallest_good_one(fitting, profile.knee_efficiency);
  choice.explanation = explain(choice.chosen);
  const auto next = std::ranges::upper_bound(choice.others, choice.chosen.plan.micro, {}, micro_of);
  if (next != choice.others.end()) choice.explanation += compare(profile, choice.chosen, *next);
  return choice;
}

BatchChoice choose_batch(const BatchProfile& profile, std::int64_t global, std::int64_t world_size) {
  const std::int64_t local = local_share(global, world_size);
  std::vector<BatchPlan> plans;
  for (const std::int64_t micro : divisors(local)) plans.push_back({global, micro, local / micro});
  return choose_among(profile, rate_plans(profile, plans));
}

}  // namespace ddpkit
