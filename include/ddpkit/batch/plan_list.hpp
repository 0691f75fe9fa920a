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

/// The legal plans best first: in the order of `legal_plans`. With a profile those that fit into memory, `choose_among`'s
/// choice before the others, then by predicted time; on the ranks that it was measured on, where no number is given. Where
/// nothing fits, or not even half of the largest micro-batch allowed can be used, the nearest plans. Pure; exact up to 2^63
/// - 1. Throws UsageError and ConfigError as legal_plans, outcome_of and rate_plans, and for a memory limit without a profile
/// or without peaks in it.
PlanList list_plans(const PlanRequest& request);

/// The list as a table whose columns are what is known. The first of legal plans is marked.
TextTable plan_table(const std::vector<ListedPlan>& plans);

/// One JSON document, "ddpkit batch plans" version 1. Numbers keep all their digits.
std::string to_json(const PlanList& list);

}  // namespace ddpkit
