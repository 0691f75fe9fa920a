#include "ddpkit/batch/nearest_plans.hpp"

#include <algorithm>
#include <cmath>

#include "batch/divisors.hpp"
#include "batch/plan_reason.hpp"
#include "batch/products.hpp"
#include "ddpkit/base/figures.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/batch/legal_plans.hpp"

namespace ddpkit {
namespace {

double apart(std::int64_t a, std::int64_t b) {
  return std::abs(std::log(static_cast<double>(a) / static_cast<double>(b)));
}

/// "25 % fewer samples per step", "twice": how much `now` is of `before`.
std::string change_text(std::int64_t before, std::int64_t now) {
  const double ratio = static_cast<double>(now) / static_cast<double>(before);
  if (ratio < 1) return percent_figure(1 - ratio) + " fewer";
  return ratio < 2 ? percent_figure(ratio - 1) + " more" : figure(ratio) + " times as many";
}

/// What a plan gives up of a query, in words and as a distance.
class Price {
 public:
  Price(const PlanQuery& query, const BatchPlan& plan) {
    if (query.global && plan.global != *query.global)
      add(2 * apart(plan.global, *query.global) + 0.5,
          text("global batch ", grouped(plan.global), " instead of ", grouped(*query.global), ": ",
               change_text(*query.global, plan.global), " samples, another learning rate"));
    if (query.world && plan.world_size() != *query.world)
      add(2 * apart(plan.world_size(), *query.world) + 1,
          text(ranks_text(plan.world_size()), " instead of ", grouped(*query.world)));
    add_micro(query, plan);
    if (query.accumulate && plan.accumulate != *query.accumulate)
      add(apart(plan.accumulate, *query.accumulate),
          text("accumulate ", grouped(plan.accumulate), " instead of ", grouped(*query.accumulate)));
  }

  double distance = 0;
  std::string words;

 private:
  void add(double distance_added, const std::string& part) {
    distance += distance_added;
    words += (words.empty() ? "" : "; ") + part;
  }

  void add_micro(const PlanQuery& query, const BatchPlan& plan) {
    if (query.micro && plan.micro != *query.micro)
      add(apart(plan.micro, *query.micro) + (plan.micro > *query.micro ? 0.5 : 0),
          text("micro ", grouped(plan.micro), " instead of ", grouped(*query.micro),
               plan.micro > *query.micro ? ": more memory" : ": less work per pass"));
    const bool small = !query.micro && query.max_micro && plan.micro <= *query.max_micro / 2;
    if (small)
      add(apart(plan.micro, *query.max_micro),
          text("micro-batches of ", grouped(plan.micro), " where ", grouped(*query.max_micro), " would do"));
  }
};

/// Collects plans that differ from the query, each once.
class Neighbours {
 public:
  explicit Neighbours(const PlanQuery& query) : asked_(query) {}

  /// The best plan of another query, if it has one.
  void try_query(const PlanQuery& other) {
    const bool impossible =
        !other.global && !product({other.micro.value_or(1), other.accumulate.value_or(1), other.world.value_or(1)});
    if (impossible) return;
    const std::vector<BatchPlan> plans = legal_plans(other).plans;
    if (plans.empty()) return;
    const BatchPlan& plan = plans.front();
    if (keeps(plan)) return;
    const bool known = std::ranges::any_of(found_, [&](const NearPlan& near) { return near.plan == plan; });
    if (known) return;
    Price price(asked_, plan);
    found_.push_back({plan, price.distance, std::move(price.words)});
  }

  std::vector<NearPlan> sorted() && {
    std::ranges::stable_sort(found_, {}, &NearPlan::distance);
    return std::move(found_);
  }

 private:
  /// Whether the plan is one of those that were asked for.
  bool keeps(const BatchPlan& plan) const {
    return plan.global == asked_.global.value_or(plan.global) && plan.micro == asked_.micro.value_or(plan.micro) &&
           plan.micro <= asked_.max_micro.value_or(plan.micro) &&
           plan.accumulate == asked_.accumulate.value_or(plan.accumulate) &&
           plan.world_size() == asked_.world.value_or(plan.world_size());
  }

  PlanQuery asked_;
  std::vector<NearPlan> found_;
};

/// The elements of a rising list next to `value`: the largest up to it and the smallest above.
std::vector<std::int64_t> around(const std::vector<std::int64_t>& rising, std::int64_t value) {
  std::vector<std::int64_t> both;
  const auto above = std::ranges::upper_bound(rising, value);
  if (above != rising.begin()) both.push_back(*std::prev(above));
  if (above != rising.end()) both.push_back(*above);
  return both;
}

std::vector<std::int64_t> multiples_around(std::int64_t unit, std::int64_t value) {
  std::vector<std::int64_t> both;
  const std::int64_t times = value / unit;
  if (times > 0) both.push_back(times * unit);
  if (const auto above = product({times + 1, unit})) both.push_back(*above);
  return both;
}

/// Global batch and ranks stay; micro-batch and accumulation give way.
void move_micro(const PlanQuery& query, Neighbours& near) {
  if (*query.global % query.world.value_or(1) != 0) return;
  const std::vector<std::int64_t> choices = divisors(*query.global / query.world.value_or(1));
  const auto with = [&](std::optional<std::int64_t> micro, std::optional<std::int64_t> accumulate) {
    PlanQuery other = query;
    other.micro = micro;
    other.accumulate = accumulate;
    near.try_query(other);
  };
  if (query.micro) with(query.micro, {});
  if (query.accumulate) with({}, query.accumulate);
  const std::int64_t limit = query.max_micro.value_or(query.micro.value_or(1));
  if (query.micro)
    for (const std::int64_t micro : around(choices, std::min(*query.micro, limit))) with(micro, {});
  if (query.accumulate)
    for (const std::int64_t accumulate : around(choices, *query.accumulate)) with({}, accumulate);
  with({}, {});
}

/// Micro-batch, accumulation and ranks stay as far as they are given; the global batch gives way.
void move_global(const PlanQuery& query, Neighbours& near) {
  const std::int64_t world = query.world.value_or(1);
  const auto with_multiples_of = [&](std::optional<std::int64_t> unit) {
    if (!unit) return;
    for (const std::int64_t global : multiples_around(*unit, *query.global)) {
      PlanQuery other = query;
      other.global = global;
      near.try_query(other);
    }
  };
  with_multiples_of(product({query.micro.value_or(1), query.accumulate.value_or(1), world}));
  if (query.micro || !query.max_micro) return;
  const std::int64_t good = *query.max_micro >= 8 ? *query.max_micro / 8 * 8 : *query.max_micro;
  with_multiples_of(product({good, query.accumulate.value_or(1), world}));
}

/// Of a micro-batch and an accumulation that are both given, one or both stay.
void move_global_and_factor(const PlanQuery& query, Neighbours& near) {
  if (!query.micro || !query.accumulate) return;
  near.try_query({.micro = query.micro, .max_micro = query.max_micro, .accumulate = query.accumulate, .world = query.world});
  PlanQuery other = query;
  other.accumulate.reset();
  move_global(other, near);
}

/// The global batch stays; another number of ranks.
void move_world(const PlanQuery& query, Neighbours& near) {
  if (!query.world) return;
  const auto kept = product({query.micro.value_or(1), query.accumulate.value_or(1)});
  if (!kept || *query.global % *kept != 0) return;
  for (const std::int64_t world : around(divisors(*query.global / *kept), *query.world)) {
    PlanQuery other = query;
    other.world = world;
    near.try_query(other);
  }
}

}  // namespace

std::vector<NearPlan> nearest_plans(const PlanQuery& query) {
  legal_plans(query);  // refuses what makes no sense
  if (!query.global) return {};
  Neighbours near(query);
  PlanQuery within = query;  // a micro-batch above its own limit gives way first
  if (query.micro && query.max_micro) within.micro = std::min(*query.micro, *query.max_micro);
  move_micro(within, near);
  move_global(within, near);
  move_global_and_factor(within, near);
  move_world(within, near);
  return std::move(near).sorted();
}

std::string nearest_text(const std::vector<NearPlan>& nearest) {
  constexpr std::size_t kShown = 3;
  std::string list;
  for (std::size_t i = 0; i < std::min(nearest.size(), kShown); ++i)
    list += text(i == 0 ? "" : ", or ", plan_text(nearest[i].plan), " (", nearest[i].cost, ")");
  return list;
}

}  // namespace ddpkit
