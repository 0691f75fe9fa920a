#pragma once

#include <string>
#include <vector>

#include "ddpkit/batch/batch_plan.hpp"
#include "ddpkit/batch/plan_query.hpp"

namespace ddpkit {

/// One sentence each, without a full stop: why the first of `plans` is the best, and why a query has none.
std::string why_best(const PlanQuery& query, const std::vector<BatchPlan>& plans);
std::string why_no_plan(const PlanQuery& query);

/// "1 rank", "1,024 ranks".
std::string ranks_text(std::int64_t world);

}  // namespace ddpkit
