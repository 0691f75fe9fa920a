#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ddpkit/base/text_table.hpp"
#include "ddpkit/batch/batch_profile.hpp"
#include "ddpkit/batch/choose_batch.hpp"
#include "ddpkit/batch/plan_outcome.hpp"
#include "ddpkit/batch/plan_query.hpp"

namespace ddpkit {

/// What `ddpkit plan` is asked.
struct PlanRequest {
  PlanQuery query{};
  PlanTerms terms{};
  std::optional<BatchProfile> profile{};       ///< measured times and peaks of the model
  std::optional<std::int64_t> memory_limit{};  ///< bytes of a rank, in place of the profile's
  std::size_t most = 10;                       ///< plans listed; 0: all
};

/// A plan with all that follows from it.
struct ListedPlan {
  BatchPlan plan;
  PlanOutcome outcome;
  std::optional<RatedPlan> predicted;  ///< where there is a profile
  std::string cost;                    ///< of a plan that is only near what was asked: what it gives up
};

struct PlanList {
  std::vector<ListedPlan> legal;    ///< best first
  std::int64_t total = 0;           ///< legal plans, listed or not
  std::string reason;               ///< one sentence: why the first is the best, or why there is none
  std::vector<ListedPlan> nearest;  ///< where there is no legal plan, or only poor ones: nearest first
};

/// The legal plans best first: in the order of `legal_plans`, and with a profile those that fit into memory, the smallest
/// micro-batch that reaches the efficiency of the knee before the others, then by predicted time. Where nothing fits, or not
/// even half of the largest micro-batch allowed can be used, the nearest plans. Pure; exact up to 2^63 - 1. Throws UsageError
/// and ConfigError as legal_plans and outcome_of, and for a memory limit without a profile.
PlanList list_plans(const PlanRequest& request);

/// The list as a table whose columns are what is known. The first of legal plans is marked.
TextTable plan_table(const std::vector<ListedPlan>& plans);

/// One JSON document, "ddpkit batch plans" version 1. Numbers keep all their digits.
std::string to_json(const PlanList& list);

}  // namespace ddpkit
