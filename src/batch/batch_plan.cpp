#include "ddpkit/batch/batch_plan.hpp"

#include "batch/plan_reason.hpp"
#include "ddpkit/base/error.hpp"
#include "ddpkit/base/figures.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/batch/legal_plans.hpp"
#include "ddpkit/batch/nearest_plans.hpp"

namespace ddpkit {
namespace {

/// "micro 128 -> 64", "accumulate 2 as before".
std::string move_text(std::string_view name, std::int64_t before, std::int64_t after) {
  return before == after ? text(name, " ", grouped(after), " as before")
                         : text(name, " ", grouped(before), " -> ", grouped(after));
}

}  // namespace

BatchPlan solve_batch(const BatchOptions& options, std::int64_t world_size) {
  const PlanQuery query{.global = options.global,
                        .micro = options.micro,
                        .max_micro = options.max_micro,
                        .accumulate = options.accumulate,
                        .world = world_size};
  const LegalPlans legal = legal_plans(query);
  if (legal.plans.empty()) throw ConfigError(text("batch: ", legal.reason, "; nearest: ", nearest_text(nearest_plans(query))));
  return legal.plans.front();
}

std::string plan_text(const BatchPlan& plan) {
  return text("global batch ", grouped(plan.global), " = micro ", grouped(plan.micro), " x accumulate ",
              grouped(plan.accumulate), " x ", ranks_text(plan.world_size()));
}

std::string what_moved(const BatchPlan& before, const BatchPlan& after) {
  return text(move_text("global batch", before.global, after.global), "; ", move_text("micro", before.micro, after.micro), ", ",
              move_text("accumulate", before.accumulate, after.accumulate), ", ",
              move_text("ranks", before.world_size(), after.world_size()));
}

}  // namespace ddpkit
