#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "config/scalar_field.hpp"
#include "ddpkit/config/run_config.hpp"

namespace ddpkit {

/// A configuration without its types: what the writer, the schema, the options page and the start-up facts are made from.
struct Field {
  enum class Absent { never, automatic };  ///< automatic: may be "auto"

  std::string name = {};
  std::string help = {};
  FieldKind kind = FieldKind::section;
  Range range = {};
  Absent absent = Absent::never;
  std::vector<std::string> choices = {};  ///< of a choice
  std::string value = {};                 ///< of a scalar, as in a file
  std::string complaint = {};             ///< of a scalar: what was expected, where `value` is out of range
  std::vector<Field> children = {};       ///< fields of a section, items of a list, values of `user`
  std::vector<Field> element = {};        ///< of a list: one field that describes an item with its defaults

  bool is_scalar() const { return kind < FieldKind::section; }
};

/// The section that is the whole configuration.
Field describe(const RunConfig& config);

/// "batch" and "global" give "batch.global"; the root's name is empty.
std::string join_path(std::string_view parent, std::string_view name);

/// "optimizer.groups[0]".
std::string item_path(std::string_view list, std::size_t index);

/// Calls `visit(path, field)` for every scalar, every `user` value and every list below `field`, in order; lists before their
/// items, and items only where they are sections.
template <class Visit>
void for_each_leaf(const Field& field, const std::string& path, Visit&& visit) {
  if (field.is_scalar()) return visit(path, field);
  if (field.kind != FieldKind::list) {
    for (const Field& child : field.children) for_each_leaf(child, join_path(path, child.name), visit);
    return;
  }
  visit(path, field);
  if (field.element.front().kind != FieldKind::section) return;
  for (std::size_t i = 0; i < field.children.size(); ++i) for_each_leaf(field.children[i], item_path(path, i), visit);
}

/// The value of a scalar, or of a whole list in flow style: "[0.1, 0.2]".
std::string flow_text(const Field& field);

/// A text in double quotes where a YAML reader would take it for something else, with everything special escaped.
std::string yaml_text(const std::string& text);

}  // namespace ddpkit
