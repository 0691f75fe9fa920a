#include "ddpkit/config/schema.hpp"

#include <nlohmann/json.hpp>
#include <regex>
#include <string>

#include "ddpkit/config/print_config.hpp"
#include "support/catch.hpp"
#include "unit/config/run_file.hpp"

using namespace ddpkit;
using namespace ddpkit::test;
using nlohmann::json;

namespace {

bool has_type(const json& value, const std::string& type) {
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  if (type == "boolean") return value.is_boolean();
  if (type == "string") return value.is_string();
  return type == "array" ? value.is_array() : value.is_object();
}

bool has_type(const json& value, const json& types) {
  if (types.is_string()) return has_type(value, types.get<std::string>());
  return std::any_of(types.begin(), types.end(), [&](const json& type) { return has_type(value, type.get<std::string>()); });
}

bool is_valid(const json& value, const json& schema);

bool is_valid_object(const json& value, const json& schema) {
  const json known = schema.value("properties", json::object());
  const json others = schema.value("additionalProperties", json(true));
  for (const auto& [key, member] : value.items()) {
    const json& rule = known.contains(key) ? known[key] : others;
    if (rule.is_boolean() ? !rule.get<bool>() : !is_valid(member, rule)) return false;
  }
  return true;
}

// The words of draft 07 that our schema uses, read from the specification.
bool is_valid(const json& value, const json& schema) {
  const auto any = [&](const json& list, auto&& fits) { return std::any_of(list.begin(), list.end(), fits); };
  if (schema.contains("type") && !has_type(value, schema["type"])) return false;
  if (schema.contains("const") && value != schema["const"]) return false;
  if (schema.contains("enum") && !any(schema["enum"], [&](const json& one) { return one == value; })) return false;
  if (schema.contains("anyOf") && !any(schema["anyOf"], [&](const json& one) { return is_valid(value, one); })) return false;
  if (schema.contains("pattern") &&
      !std::regex_search(value.get<std::string>(), std::regex(schema["pattern"].get<std::string>())))
    return false;
  if (schema.contains("minimum") && value < schema["minimum"]) return false;
  if (schema.contains("maximum") && value > schema["maximum"]) return false;
  if (schema.contains("exclusiveMinimum") && value <= schema["exclusiveMinimum"]) return false;
  if (value.is_array() && any(value, [&](const json& item) { return !is_valid(item, schema["items"]); })) return false;
  return !value.is_object() || is_valid_object(value, schema);
}

const json& schema() {
  static const json parsed = json::parse(json_schema());
  return parsed;
}

json printed(const LoadedConfig& loaded) {
  return json::parse(config_json(loaded))["config"];
}

bool accepts(const char* text) {
  return is_valid(json::parse(text), schema());
}

}  // namespace

TEST_CASE("the schema accepts the defaults and a file that uses everything") {
  CHECK(is_valid(printed({}), schema()));
  CHECK(is_valid(printed(load(R"(
batch: {global: 6, micro: 3}
optimizer: {groups: [{match: x, weight_decay: 0}, {match: y}]}
schedule: {warmup: 0.5 epochs, decay: multi_step, milestones: [10%, 1 step, 500 steps]}
data: {prefetch: 1B, transform: {mean: [0.5], std: [0.25]}}
comm: {timeout: 1h, overlap: off}
user: {hidden: 3}
)")),
                 schema()));
}

TEST_CASE("the schema refuses what the loader refuses") {
  CHECK(accepts(R"({"comm": {"bucket_mib": 25}})"));
  CHECK_FALSE(accepts(R"({"comm": {"bucket_mib": true}})"));
  CHECK_FALSE(accepts(R"({"comm": {"bucket_mib": "25"}})"));
  CHECK_FALSE(accepts(R"({"comm": {"bucket_mib": 0}})"));
  CHECK_FALSE(accepts(R"({"comm": {"timeout": 120}})"));
  CHECK_FALSE(accepts(R"({"batch": {"globl": 25}})"));
  CHECK_FALSE(accepts(R"({"btach": {}})"));
  CHECK_FALSE(accepts(R"({"data": {"tail": "dorp"}})"));
  CHECK_FALSE(accepts(R"({"data": {"prefetch": "64MB"}})"));
  CHECK_FALSE(accepts(R"({"data": {"transform": {"std": [0]}}})"));
  CHECK_FALSE(accepts(R"({"optimizer": {"groups": [{"wd": 1}]}})"));
  CHECK_FALSE(accepts(R"({"schedule": {"warmup": 5}})"));
  CHECK(accepts(R"({"schedule": {"warmup": 0}})"));
  CHECK_FALSE(accepts(R"({"user": {"list": [1]}})"));
}

TEST_CASE("the schema describes every option with its default") {
  const json& global = schema()["properties"]["batch"]["properties"]["global"];
  CHECK(global["description"] == "samples in one optimizer step, over all ranks");
  CHECK(global["default"] == 256);
  CHECK(schema()["properties"]["batch"]["properties"]["micro"]["default"] == "auto");
}

TEST_CASE("the options page has a row for every option") {
  const std::string page = options_page();
  for (const Fact& fact : config_facts({})) CHECK(page.find("| `" + fact.name + "` |") != std::string::npos);
  CHECK(page.find("| `optimizer.groups[].lr_factor` |") != std::string::npos);
}
