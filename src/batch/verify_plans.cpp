#include "ddpkit/batch/verify_plans.hpp"

#include <algorithm>
#include <optional>

#include "ddpkit/base/error.hpp"

namespace ddpkit {
namespace {

// What is fixed for one number of ranks need not work on another, so only the largest micro-batch stays.
BatchOptions relaxed(BatchOptions options) {
  if (options.micro) options.max_micro = options.micro;
  options.micro.reset();
  options.accumulate.reset();
  return options;
}

std::optional<BatchPlan> plan_on(const BatchOptions& options, int ranks) {
  try {
    return solve_batch(options, ranks);
  } catch (const ConfigError&) {
    return std::nullopt;
  }
}

std::optional<BatchPlan> any_plan_on(const BatchOptions& options, int ranks) {
  const std::optional<BatchPlan> plan = plan_on(options, ranks);
  return plan ? plan : plan_on(relaxed(options), ranks);
}

}  // namespace

std::vector<RankedPlan> scaling_plans(const BatchOptions& options, std::span<const int> ranks) {
  const std::optional<BatchPlan> relaxed_plan = any_plan_on(options, ranks.back());
  const BatchPlan most = relaxed_plan ? *relaxed_plan : solve_batch(options, ranks.back());
  std::vector<RankedPlan> plans;
  for (const int count : ranks) plans.push_back({count, {most.micro * most.accumulate * count, most.micro, most.accumulate}});
  return plans;
}

std::vector<RankedPlan> equivalent_plans(const BatchOptions& options, std::span<const int> ranks) {
  constexpr std::int64_t kMostCuts = 4;
  std::vector<RankedPlan> plans;
  for (const int count : ranks) {
    const std::optional<BatchPlan> plan = any_plan_on(options, count);
    if (!plan) continue;
    const std::int64_t most_cuts = plans.empty() ? kMostCuts : 1;
    for (std::int64_t cuts = 1; cuts <= most_cuts && plan->micro % cuts == 0; cuts *= 2)
      plans.push_back({count, {plan->global, plan->micro / cuts, plan->accumulate * cuts}});
  }
  return plans;
}

}  // namespace ddpkit
