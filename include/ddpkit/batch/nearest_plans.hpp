#pragma once

#include <string>
#include <vector>

#include "ddpkit/batch/batch_plan.hpp"
#include "ddpkit/batch/plan_query.hpp"

namespace ddpkit {

/// A legal plan that is not what was asked for, but near it.
struct NearPlan {
  BatchPlan plan;
  double distance = 0;  ///< see nearest_plans
  std::string cost;     ///< in words: "micro 32 instead of 48: less work per pass"
};

/// The plans next to a query, in each direction in which it can give way: another micro-batch or accumulation, another global
/// batch, another number of ranks. Nearest first: the distance adds up |log(ratio)| of everything that moved, where the global
/// batch counts twice (it changes the result) and half a unit more, ranks twice and one more, and a micro-batch above the one
/// asked for (it may not fit into memory) half a unit more. Pure. Empty where the query has no global batch. Throws as
/// legal_plans.
std::vector<NearPlan> nearest_plans(const PlanQuery& query);

/// "global batch 128 = micro 32 x accumulate 2 x 2 ranks (micro 32 instead of 48: less work per pass), or ...": the first of
/// them, for the end of an error message.
std::string nearest_text(const std::vector<NearPlan>& nearest);

}  // namespace ddpkit
