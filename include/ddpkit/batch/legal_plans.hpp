#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ddpkit/batch/batch_plan.hpp"
#include "ddpkit/batch/plan_query.hpp"

namespace ddpkit {

/// Worlds that are tried where their size is open.
inline constexpr std::int64_t kMostRanks = 4096;

/// Plans whose product is exact.
struct LegalPlans {
  std::vector<BatchPlan> plans;  ///< best first
  std::string reason;            ///< one sentence: why the first is the best or, without plans, why there is none
};

/// Every plan that the query allows, best first. Pure; exact up to 2^63 - 1; a few milliseconds for any numbers.
///
/// - World given: the larger the micro-batch the better, except that multiples of 8 come first among near-equals, which are
/// those
///   of at least three quarters of the largest.
/// - World open: the best plan of every number of ranks up to kMostRanks, those with the least accumulation first, then those
/// with
///   the fewest ranks.
/// - Global open: the one plan with the largest micro-batch allowed (a multiple of 8 among near-equals); accumulate and world
/// are 1
///   unless given.
///
/// Throws UsageError for values below 1 and where neither global, micro nor max_micro is given, ConfigError for a product above
/// 2^63 - 1.
LegalPlans legal_plans(const PlanQuery& query);

}  // namespace ddpkit
