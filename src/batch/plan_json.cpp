#include <nlohmann/json.hpp>

#include "ddpkit/batch/plan_list.hpp"

namespace ddpkit {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
void put(Json& object, const char* name, const std::optional<T>& value) {
  if (value) object[name] = *value;
}

Json as_json(const ListedPlan& listed) {
  Json plan{{"global", listed.plan.global},
            {"micro", listed.plan.micro},
            {"accumulate", listed.plan.accumulate},
            {"world", listed.plan.world_size()}};
  put(plan, "lr", listed.outcome.lr);
  put(plan, "warmup_steps", listed.outcome.warmup_steps);
  put(plan, "steps", listed.outcome.steps);
  put(plan, "steps_per_epoch", listed.outcome.steps_per_epoch);
  put(plan, "dropped", listed.outcome.dropped);
  put(plan, "padded", listed.outcome.padded);
  if (listed.predicted) {
    const RatedPlan& rated = *listed.predicted;
    plan["step_seconds"] = rated.step_seconds;
    plan["samples_per_second"] = rated.samples_per_second;
    plan["efficiency"] = rated.efficiency;
    if (rated.peak_bytes > 0) plan["peak_bytes"] = rated.peak_bytes;
    if (rated.memory_share > 0) plan["memory_share"] = rated.memory_share;
  }
  if (!listed.cost.empty()) plan["cost"] = listed.cost;
  return plan;
}

Json as_json(const std::vector<ListedPlan>& plans) {
  Json list = Json::array();
  for (const ListedPlan& plan : plans) list.push_back(as_json(plan));
  return list;
}

}  // namespace

std::string to_json(const PlanList& list) {
  const Json document{{"format", "ddpkit batch plans"}, {"version", 1},
                      {"reason", list.reason},          {"total", list.total},
                      {"plans", as_json(list.legal)},   {"nearest", as_json(list.nearest)}};
  return document.dump(2);
}

}  // namespace ddpkit
