#include "ddpkit/batch/plan_list.hpp"

#include <algorithm>
#include <utility>

#include "batch/plan_reason.hpp"
#include "ddpkit/base/error.hpp"
#include "ddpkit/base/figures.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/batch/legal_plans.hpp"
#include "ddpkit/batch/nearest_plans.hpp"

namespace ddpkit {
namespace {

constexpr std::int64_t kLargestGuess = std::int64_t{1} << 40;  // of a micro-batch that memory does not bound

std::size_t shown(std::size_t available, std::size_t most) {
  return most == 0 ? available : std::min(available, most);
}

/// Empty where a run cannot have this batch, such as one above its data.
std::optional<PlanOutcome> possible_outcome(std::int64_t global, const PlanTerms& terms) {
  try {
    return outcome_of(global, terms);
  } catch (const ConfigError&) {
    return std::nullopt;
  }
}

std::vector<ListedPlan> list_nearest(const PlanRequest& request) {
  std::vector<ListedPlan> listed;
  for (const NearPlan& near : nearest_plans(request.query))
    if (const auto outcome = possible_outcome(near.plan.global, request.terms))
      listed.push_back({.plan = near.plan, .outcome = *outcome, .cost = near.cost});
  listed.resize(shown(listed.size(), request.most));
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

/// The profile under the limit that is asked for.
BatchProfile limited(const PlanRequest& request) {
  BatchProfile profile = *request.profile;
  if (!request.memory_limit) return profile;
  const bool has_peaks = std::ranges::any_of(profile.measured, [](const MicroMeasurement& m) { return m.peak_bytes > 0; });
  if (!has_peaks)
    throw ConfigError(
        "the profile has no memory in it, so a limit says nothing; measure again, or give the largest micro-batch");
  profile.memory_limit = *request.memory_limit;
  return profile;
}

/// With a profile the number of ranks that it was measured on is meant where none is given.
PlanQuery on_measured_ranks(const PlanRequest& request) {
  PlanQuery query = request.query;
  if (request.profile && !query.world) query.world = request.profile->world_size;
  return query;
}

bool fits(const BatchProfile& profile, std::int64_t micro) {
  return rate_plans(profile, std::vector<BatchPlan>{{micro, micro, 1}}).front().fits;
}

/// The largest micro-batch that the profile predicts to fit; 0 when not even one sample does.
std::int64_t largest_fitting(const BatchProfile& profile) {
  std::int64_t low = 0;
  std::int64_t high = profile.measured.back().micro;
  while (fits(profile, high) && high < kLargestGuess) high *= 2;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (fits(profile, middle) ? low : high) = middle;
  }
  return fits(profile, high) ? high : low;
}

std::string why_none_fits(const BatchProfile& profile, std::int64_t largest) {
  const double limit = static_cast<double>(profile.memory_limit) * profile.memory_target;
  const std::string bound = profile.memory_limit > 0
                                ? text(" of ", bytes_figure(limit), " (", percent_figure(profile.memory_target), " of ",
                                       bytes_figure(static_cast<double>(profile.memory_limit)), ")")
                                : std::string();
  if (largest > 0)
    return text("no such plan fits into memory", bound, ": the largest micro-batch that does is ", grouped(largest));
  const RatedPlan one = rate_plans(profile, std::vector<BatchPlan>{{1, 1, 1}}).front();
  return text("the memory", bound, " is below what one sample needs",
              one.peak_bytes > 0 ? text(", ", bytes_figure(one.peak_bytes)) : "",
              "; raise memory.limit or make the model smaller");
}

/// Best first: the choice, then by time.
void put_in_order(std::vector<RatedPlan>& fitting, const BatchPlan& chosen) {
  std::ranges::stable_sort(fitting, {},
                           [&](const RatedPlan& rated) { return std::pair(rated.plan != chosen, rated.step_seconds); });
}

std::vector<ListedPlan> list_rated(const std::vector<RatedPlan>& rated, const PlanRequest& request) {
  std::vector<BatchPlan> plans;
  for (std::size_t i = 0; i < shown(rated.size(), request.most); ++i) plans.push_back(rated[i].plan);
  std::vector<ListedPlan> listed = list_legal(plans, request);
  for (std::size_t i = 0; i < listed.size(); ++i) listed[i].predicted = rated[i];
  return listed;
}

/// Those near the query that fit, rated.
std::vector<ListedPlan> list_fitting_nearest(PlanRequest request, const BatchProfile& profile, std::int64_t largest) {
  if (largest == 0) return {};
  request.query.max_micro = std::min(request.query.max_micro.value_or(largest), largest);
  std::vector<ListedPlan> nearest = list_nearest(request);
  for (ListedPlan& near : nearest) near.predicted = rate_plans(profile, std::vector{near.plan}).front();
  return nearest;
}

std::string other_ranks_note(const BatchProfile& profile, const BatchPlan& plan) {
  if (plan.world_size() == profile.world_size) return {};
  return text("; times are with the communication measured on ", ranks_text(profile.world_size));
}

PlanList list_with_profile(const PlanRequest& request, LegalPlans legal) {
  const BatchProfile profile = limited(request);
  std::vector<RatedPlan> rated = rate_plans(profile, legal.plans);
  const bool any = std::ranges::any_of(rated, &RatedPlan::fits);
  if (any) {
    const BatchChoice choice = choose_among(profile, rated);
    std::erase_if(rated, [](const RatedPlan& plan) { return !plan.fits; });
    put_in_order(rated, choice.chosen.plan);
    return {.legal = list_rated(rated, request),
            .total = static_cast<std::int64_t>(rated.size()),
            .reason = choice.explanation + other_ranks_note(profile, choice.chosen.plan)};
  }
  const std::int64_t largest = largest_fitting(profile);
  const std::string reason = rated.empty() && largest > 0 ? std::move(legal.reason) : why_none_fits(profile, largest);
  return {.legal = {}, .total = 0, .reason = reason, .nearest = list_fitting_nearest(request, profile, largest)};
}

}  // namespace

PlanList list_plans(const PlanRequest& given) {
  if (given.memory_limit && !given.profile)
    throw UsageError("a memory limit says nothing without a profile; give one, or the largest micro-batch that fits");
  PlanRequest request = given;
  request.query = on_measured_ranks(given);
  LegalPlans legal = legal_plans(request.query);
  if (request.profile) return list_with_profile(request, std::move(legal));
  PlanList list{.legal = list_legal(legal.plans, request),
                .total = static_cast<std::int64_t>(legal.plans.size()),
                .reason = std::move(legal.reason)};
  if (legal.plans.empty() || is_poor(legal.plans.front(), request.query)) list.nearest = list_nearest(request);
  return list;
}

}  // namespace ddpkit
