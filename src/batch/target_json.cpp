#include <cmath>
#include <nlohmann/json.hpp>

#include "ddpkit/batch/time_to_target.hpp"

namespace ddpkit {
namespace {

using Json = nlohmann::ordered_json;

/// Bands may be open; JSON has no infinity.
Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json as_json(const TargetRow& row) {
  return {{"devices", row.devices},
          {"global", row.plan.global},
          {"micro", row.plan.micro},
          {"accumulate", row.plan.accumulate},
          {"step_seconds", row.step_seconds},
          {"relative_steps", row.relative_steps},
          {"time", number(row.time)},
          {"time_low", number(row.time_low)},
          {"time_high", number(row.time_high)},
          {"cost", number(row.cost)}};
}

}  // namespace

std::string to_json(const TimeToTarget& result) {
  Json rows = Json::array();
  for (const TargetRow& row : result.rows) rows.push_back(as_json(row));
  const bool seconds = result.unit == TimeToTarget::Unit::seconds;
  const Json document{{"format", "ddpkit time to target"},
                      {"version", 1},
                      {"unit", seconds ? "seconds" : "reference"},
                      {"assumptions", result.assumptions},
                      {"reference", as_json(result.reference)},
                      {"fastest", as_json(fastest(result))},
                      {"rows", std::move(rows)}};
  return document.dump(2);
}

}  // namespace ddpkit
