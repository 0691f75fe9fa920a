#include "batch/plan_reason.hpp"

#include <algorithm>

#include "batch/products.hpp"
#include "ddpkit/base/figures.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/batch/legal_plans.hpp"

namespace ddpkit {
namespace {

/// "micro 8 x accumulate 3 x 2 ranks", of what was given.
std::string given_factors(const PlanQuery& query) {
  std::string factors;
  const auto add = [&](const std::string& factor) { factors += (factors.empty() ? "" : " x ") + factor; };
  if (query.micro) add("micro " + grouped(*query.micro));
  if (query.accumulate) add("accumulate " + grouped(*query.accumulate));
  if (query.world) add(ranks_text(*query.world));
  return factors;
}

/// "the 64 samples that each of 2 ranks has of global batch 128".
std::string share_text(const PlanQuery& query) {
  const std::string whole = text("global batch ", grouped(*query.global));
  if (query.world.value_or(1) == 1) return text("the ", grouped(*query.global), " samples of ", whole);
  return text("the ", grouped(*query.global / *query.world), " samples that each of ", ranks_text(*query.world), " has of ",
              whole);
}

std::string why_product_fails(const PlanQuery& query) {
  const std::string global = grouped(*query.global);
  const auto made = product({query.micro.value_or(1), query.accumulate.value_or(1), query.world.value_or(1)});
  const std::string factors = given_factors(query);
  const bool whole = query.micro && query.accumulate && query.world;
  if (whole && made) return text(factors, " makes ", grouped(*made), ", not the global batch ", global);
  return text("global batch ", global, " is no multiple of ", factors);
}

}  // namespace

std::string ranks_text(std::int64_t world) {
  return text(grouped(world), world == 1 ? " rank" : " ranks");
}

std::string why_best(const PlanQuery& query, const std::vector<BatchPlan>& plans) {
  const BatchPlan& best = plans.front();
  if (!query.global) return plan_text(best) + " is the largest product of what is given";
  if (plans.size() == 1) return plan_text(best) + " is the only plan";
  if (!query.world)
    return text(ranks_text(best.world_size()),
                best.accumulate == 1 ? " are the fewest that need no accumulation" : " need the least accumulation");
  const bool larger = std::ranges::any_of(plans, [&](const BatchPlan& other) { return other.micro > best.micro; });
  return text("micro ", grouped(best.micro),
              larger ? " is a multiple of 8 and near the largest micro-batch" : " is the largest micro-batch",
              query.max_micro ? text(" up to ", grouped(*query.max_micro)) : "", " that divides ", share_text(query));
}

std::string why_no_plan(const PlanQuery& query) {
  if (query.micro && query.max_micro && *query.micro > *query.max_micro)
    return text("micro ", grouped(*query.micro), " is above the largest micro-batch allowed, ", grouped(*query.max_micro));
  if (query.world && *query.global % *query.world != 0)
    return text("global batch ", grouped(*query.global), " cannot be shared equally by ", ranks_text(*query.world));
  const std::int64_t local = *query.global / query.world.value_or(1);
  if (query.micro && !query.accumulate && local % *query.micro != 0)
    return text("micro ", grouped(*query.micro), " does not divide ", share_text(query));
  if (query.accumulate && !query.micro && local % *query.accumulate != 0)
    return text("accumulate ", grouped(*query.accumulate), " does not divide ", share_text(query));
  if (query.accumulate && !query.micro && query.world)
    return text("accumulate ", grouped(*query.accumulate), " makes micro-batches of ", grouped(local / *query.accumulate),
                " samples, above the largest allowed, ", grouped(*query.max_micro));
  const auto made = product({query.micro.value_or(1), query.accumulate.value_or(1)});
  if (!query.world && made && *query.global % *made == 0)
    return text("global batch ", grouped(*query.global), " needs more than ", ranks_text(kMostRanks), " here");
  return why_product_fails(query);
}

}  // namespace ddpkit
