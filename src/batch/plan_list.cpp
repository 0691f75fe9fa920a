#include "ddpkit/batch/plan_list.hpp"

#include <algorithm>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/figures.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/batch/legal_plans.hpp"
#include "ddpkit/batch/nearest_plans.hpp"

namespace ddpkit {
namespace {

std::size_t shown(std::size_t available, std::size_t most) {
  return most == 0 ? available : std::min(available, most);
}

bool trains_on(const NearPlan& near, const PlanTerms& terms) {
  return terms.tail != Tail::drop || terms.dataset == 0 || near.plan.global <= terms.dataset;
}

std::vector<ListedPlan> list_nearest(const PlanRequest& request) {
  std::vector<NearPlan> nearest = nearest_plans(request.query);
  std::erase_if(nearest, [&](const NearPlan& near) { return !trains_on(near, request.terms); });
  std::vector<ListedPlan> listed;
  for (std::size_t i = 0; i < shown(nearest.size(), request.most); ++i)
    listed.push_back({.plan = nearest[i].plan,
                      .outcome = outcome_of(nearest[i].plan.global, request.terms),
                      .cost = std::move(nearest[i].cost)});
  return listed;
}

std::vector<ListedPlan> list_legal(const std::vector<BatchPlan>& plans, const PlanRequest& request) {
  std::vector<ListedPlan> listed;
  if (plans.empty()) return listed;
  const PlanOutcome outcome = outcome_of(plans.front().global, request.terms);  // all of them have this global batch
  for (std::size_t i = 0; i < shown(plans.size(), request.most); ++i) listed.push_back({.plan = plans[i], .outcome = outcome});
  return listed;
}

bool is_poor(const BatchPlan& best, const PlanQuery& query) {
  return query.global && query.max_micro && !query.micro && best.micro <= *query.max_micro / 2 && best.accumulate > 1;
}

}  // namespace

PlanList list_plans(const PlanRequest& request) {
  if (request.memory_limit && !request.profile)
    throw UsageError("a memory limit says nothing without a profile; give one, or the largest micro-batch that fits");
  LegalPlans legal = legal_plans(request.query);
  PlanList list{.legal = list_legal(legal.plans, request),
                .total = static_cast<std::int64_t>(legal.plans.size()),
                .reason = std::move(legal.reason)};
  if (legal.plans.empty() || is_poor(legal.plans.front(), request.query)) list.nearest = list_nearest(request);
  return list;
}

}  // namespace ddpkit
