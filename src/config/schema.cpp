#include "ddpkit/config/schema.hpp"

#include <cmath>
#include <utility>

#include "config/field_json.hpp"

namespace ddpkit {
namespace {

constexpr char kSizePattern[] = "^[0-9]+(\\.[0-9]+)? ?(B|KiB|MiB|GiB|TiB)$";
constexpr char kDurationPattern[] = "^[0-9]+(\\.[0-9]+)? ?(ms|s|m|h)$";
constexpr char kExtentPattern[] = "^([0-9]+ ?steps?|[0-9]+(\\.[0-9]+)? ?(epochs?|%)|0)$";

Json schema_of(const Field& field);

Json number_schema(const Field& field) {
  Json schema{{"type", field.kind == FieldKind::integer ? "integer" : "number"}};
  const auto limit = [&](double x) { return field.kind == FieldKind::integer ? Json(static_cast<std::int64_t>(x)) : Json(x); };
  if (std::isfinite(field.range.min)) schema[field.range.above_min ? "exclusiveMinimum" : "minimum"] = limit(field.range.min);
  if (std::isfinite(field.range.max)) schema["maximum"] = limit(field.range.max);
  return schema;
}

Json text_schema(const char* pattern) {
  return {{"type", "string"}, {"pattern", pattern}};
}

Json scalar_schema(const Field& field) {
  switch (field.kind) {
    case FieldKind::boolean: return {{"type", "boolean"}};
    case FieldKind::integer:
    case FieldKind::number: return number_schema(field);
    case FieldKind::bytes: return text_schema(kSizePattern);
    case FieldKind::duration: return text_schema(kDurationPattern);
    case FieldKind::extent: return {{"anyOf", {text_schema(kExtentPattern), {{"const", 0}}}}};
    case FieldKind::choice: return {{"enum", field.choices}};
    default: return {{"type", "string"}};
  }
}

Json section_schema(const Field& section) {
  Json properties = Json::object();
  for (const Field& child : section.children) properties[child.name] = schema_of(child);
  return {{"type", "object"}, {"additionalProperties", false}, {"properties", std::move(properties)}};
}

Json kind_schema(const Field& field) {
  switch (field.kind) {
    case FieldKind::section: return section_schema(field);
    case FieldKind::list: return {{"type", "array"}, {"items", schema_of(field.element.front())}};
    case FieldKind::user: return {{"type", "object"}, {"additionalProperties", {{"type", {"string", "number", "boolean"}}}}};
    default: return scalar_schema(field);
  }
}

Json schema_of(const Field& field) {
  Json schema = kind_schema(field);
  if (field.absent == Field::Absent::automatic) schema = {{"anyOf", {{{"const", "auto"}}, std::move(schema)}}};
  if (!field.name.empty() && !field.help.empty()) schema["description"] = field.help;
  if (!field.name.empty() && (field.is_scalar() || field.kind == FieldKind::list)) schema["default"] = json_value(field);
  return schema;
}

}  // namespace

std::string json_schema() {
  Json schema{{"$schema", "http://json-schema.org/draft-07/schema#"}, {"title", "ddpkit run file"}};
  schema.update(schema_of(describe({})));
  return schema.dump(2);
}

}  // namespace ddpkit
