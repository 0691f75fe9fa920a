#include "ddpkit/batch/legal_plans.hpp"

#include <algorithm>
#include <limits>
#include <ranges>
#include <tuple>

#include "batch/divisors.hpp"
#include "batch/plan_reason.hpp"
#include "batch/products.hpp"
#include "ddpkit/base/error.hpp"
#include "ddpkit/base/figures.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit {
namespace {

constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();

void require_positive(std::string_view name, const std::optional<std::int64_t>& value) {
  if (value && *value < 1) throw UsageError(text(name, ": expected a whole number of at least 1, got ", *value));
}

void require_sense(const PlanQuery& query) {
  require_positive("global", query.global);
  require_positive("micro", query.micro);
  require_positive("max_micro", query.max_micro);
  require_positive("accumulate", query.accumulate);
  require_positive("world", query.world);
  if (!query.global && !query.micro && !query.max_micro)
    throw UsageError("too little is known to plan a batch; give the global batch, the micro-batch or its maximum");
}

/// Multiples of 8 fill the units of most devices; one of at least three quarters of the largest loses little by being smaller.
bool fills_units(std::int64_t micro, std::int64_t largest) {
  return micro % 8 == 0 && micro >= largest - largest / 4;
}

/// `falling` are the candidates, the largest first.
void put_best_first(std::vector<std::int64_t>& falling) {
  if (falling.empty()) return;
  const std::int64_t largest = falling.front();
  std::ranges::stable_partition(falling, [&](std::int64_t micro) { return fills_units(micro, largest); });
}

std::int64_t best_up_to(std::int64_t largest) {
  const std::int64_t multiple = largest / 8 * 8;
  return fills_units(multiple, largest) && multiple > 0 ? multiple : largest;
}

/// The micro-batches that the query allows of `candidates`, which rise, for a rank with `local` samples; best first.
std::vector<std::int64_t> allowed(const PlanQuery& query, std::int64_t local, const std::vector<std::int64_t>& candidates) {
  std::vector<std::int64_t> micros;
  for (const std::int64_t micro : candidates | std::views::reverse)
    if (micro <= query.max_micro.value_or(kUnlimited) && local % micro == 0 &&
        local / micro == query.accumulate.value_or(local / micro))
      micros.push_back(micro);
  put_best_first(micros);
  return micros;
}

/// The only candidate, where there is but one.
std::optional<std::int64_t> fixed_micro(const PlanQuery& query, std::int64_t local) {
  if (query.micro) return query.micro;
  if (query.accumulate) return std::max<std::int64_t>(1, local / *query.accumulate);
  return std::nullopt;
}

std::vector<BatchPlan> plans_on(const PlanQuery& query, std::int64_t global, std::int64_t world) {
  if (global % world != 0) return {};
  const std::int64_t local = global / world;
  const auto only = fixed_micro(query, local);
  std::vector<BatchPlan> plans;
  for (const std::int64_t micro : allowed(query, local, only ? std::vector{*only} : divisors(local)))
    plans.push_back({global, micro, local / micro});
  return plans;
}

/// The best micro-batch for `local` samples among the divisors of a multiple of it; 0 when none is small enough.
std::int64_t best_micro(const PlanQuery& query, std::int64_t local, const std::vector<std::int64_t>& candidates) {
  const std::int64_t limit = std::min(local, query.max_micro.value_or(kUnlimited));
  std::int64_t largest = 0;
  for (auto it = std::ranges::upper_bound(candidates, limit); it != candidates.begin();) {
    const std::int64_t micro = *--it;
    if (largest > 0 && micro < largest - largest / 4) break;
    if (local % micro != 0) continue;
    if (largest == 0) largest = micro;
    if (fills_units(micro, largest)) return micro;
  }
  return largest;
}

std::vector<BatchPlan> plans_on_any(const PlanQuery& query, std::int64_t global) {
  const std::vector<std::int64_t> candidates = divisors(global);
  std::vector<BatchPlan> plans;
  for (const std::int64_t world : candidates) {
    if (world > kMostRanks) break;
    const std::int64_t local = global / world;
    const auto only = fixed_micro(query, local);
    const std::int64_t micro = only ? *only : best_micro(query, local, candidates);
    if (!allowed(query, local, {micro}).empty()) plans.push_back({global, micro, local / micro});
  }
  std::ranges::sort(plans, {}, [](const BatchPlan& plan) { return std::tuple(plan.accumulate, plan.world_size()); });
  return plans;
}

/// Without a global batch.
BatchPlan largest_product(const PlanQuery& query) {
  const std::int64_t micro = query.micro ? *query.micro : best_up_to(*query.max_micro);
  const std::int64_t accumulate = query.accumulate.value_or(1);
  const std::int64_t world = query.world.value_or(1);
  const auto global = product({micro, accumulate, world});
  if (!global)
    throw ConfigError(text("micro ", grouped(micro), " x accumulate ", grouped(accumulate), " x ", ranks_text(world),
                           " is more than ", grouped(kUnlimited), " samples; make one of them smaller"));
  return {*global, micro, accumulate};
}

std::vector<BatchPlan> find_plans(const PlanQuery& query) {
  const bool too_large = query.micro && query.max_micro && *query.micro > *query.max_micro;
  if (too_large) return {};
  if (!query.global) return {largest_product(query)};
  return query.world ? plans_on(query, *query.global, *query.world) : plans_on_any(query, *query.global);
}

}  // namespace

LegalPlans legal_plans(const PlanQuery& query) {
  require_sense(query);
  LegalPlans result{.plans = find_plans(query), .reason = {}};
  result.reason = result.plans.empty() ? why_no_plan(query) : why_best(query, result.plans);
  return result;
}

}  // namespace ddpkit
