#include "config/field_json.hpp"

#include "ddpkit/config/print_config.hpp"

namespace ddpkit {
namespace {

Json scalar_value(const Field& field) {
  if (!is_bare(field.kind) || (field.absent == Field::Absent::automatic && field.value == "auto")) return field.value;
  if (field.kind == FieldKind::boolean) return field.value == "true";
  if (field.kind == FieldKind::integer) {
    std::int64_t whole = 0;
    parse_scalar(field.value, whole);
    return whole;
  }
  double number = 0;
  parse_scalar(field.value, number);
  return number;
}

}  // namespace

Json json_value(const Field& field) {
  if (field.is_scalar()) return scalar_value(field);
  Json made = field.kind == FieldKind::list ? Json::array() : Json::object();
  for (const Field& child : field.children) {
    if (field.kind == FieldKind::list)
      made.push_back(json_value(child));
    else
      made[child.name] = json_value(child);
  }
  return made;
}

std::string config_json(const LoadedConfig& loaded) {
  const Field root = describe(loaded.config);
  Json origins = Json::object();
  for_each_leaf(root, "", [&](const std::string& path, const Field&) { origins[path] = loaded.origins.of(path); });
  return Json{{"config", json_value(root)}, {"origins", std::move(origins)}}.dump(2, ' ', false,
                                                                                  Json::error_handler_t::replace);
}

}  // namespace ddpkit
