#include "config/field_tree.hpp"

#include <algorithm>
#include <array>

#include "ddpkit/base/text.hpp"

namespace ddpkit {
namespace {

class Describer {
 public:
  template <class T>
  static Field field(std::string_view name, T& value, std::string_view help, const Range& range = {}) {
    Field made{.name = std::string(name), .help = std::string(help), .range = range};
    fill(made, value);
    return made;
  }

  template <class T>
  void operator()(std::string_view name, T& value, std::string_view help, const Range& range = {}) {
    fields.push_back(field(name, value, help, range));
  }

  std::vector<Field> fields;

 private:
  template <class T>
  static void fill(Field& made, T& value) {
    made.kind = kind_of<T>();
    made.value = format_field(value);
    T copy = value;
    made.complaint = assign_scalar(made.value, copy, made.range);
    if constexpr (NamedEnum<T>)
      for (const auto& [candidate, name] : enum_names(value)) made.choices.emplace_back(name);
  }

  template <class T>
  static void fill(Field& made, std::optional<T>& value) {
    T inner = value.value_or(T{});
    fill(made, inner);
    made.absent = Field::Absent::automatic;
    if (!value) made.complaint.clear();
    made.value = format_field(value);
  }

  template <FieldStruct T>
  static void fill(Field& made, T& value) {
    Describer inner;
    visit_fields(inner, value);
    made.children = std::move(inner.fields);
  }

  template <class T>
  static void fill(Field& made, std::vector<T>& items) {
    made.kind = FieldKind::list;
    T fresh{};
    made.element.push_back(field("", fresh, made.help, made.range));
    for (T& item : items) made.children.push_back(field("", item, made.help, made.range));
  }

  static void fill(Field& made, UserSettings& settings) {
    made.kind = FieldKind::user;
    for (const auto& [name, value] : settings.all())
      made.children.push_back({.name = name, .kind = FieldKind::string, .value = value.text});
  }
};

constexpr std::array<std::string_view, 16> kTakenForOthers{"true", "false", "yes",   "no",   "on",   "off", "y",  "n",
                                                           "null", "True",  "False", "Null", "NULL", "Yes", "No", "auto"};

bool is_plain_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.' ||
         c == '/' || c == '+';
}

bool is_plain(const std::string& text) {
  const bool begins_well = !text.empty() && text.front() != '-' && text.front() != '.' && text.front() != '+';
  return begins_well && std::all_of(text.begin(), text.end(), is_plain_character) &&
         std::find(kTakenForOthers.begin(), kTakenForOthers.end(), text) == kTakenForOthers.end();
}

std::string escaped(char c) {
  constexpr char kHex[] = "0123456789abcdef";
  const auto code = static_cast<unsigned char>(c);
  if (c == '"' || c == '\\') return {'\\', c};
  if (code >= 0x20 && code != 0x7f) return {c};
  return {'\\', 'x', kHex[code >> 4], kHex[code & 15]};
}

}  // namespace

Field describe(const RunConfig& config) {
  RunConfig copy = config;  // visit_fields serves readers too, so it wants to write
  return Describer::field("", copy, "");
}

std::string join_path(std::string_view parent, std::string_view name) {
  return parent.empty() ? std::string(name) : text(parent, '.', name);
}

std::string item_path(std::string_view list, std::size_t index) {
  return text(list, '[', index, ']');
}

std::string flow_text(const Field& field) {
  if (field.kind == FieldKind::string) return yaml_text(field.value);
  if (field.kind != FieldKind::list && field.kind != FieldKind::section) return field.value;
  const bool list = field.kind == FieldKind::list;
  std::string flow = list ? "[" : "{";
  for (const Field& child : field.children) {
    if (flow.size() > 1) flow += ", ";
    flow += list ? flow_text(child) : child.name + ": " + flow_text(child);
  }
  return flow + (list ? "]" : "}");
}

std::string yaml_text(const std::string& text) {
  if (is_plain(text)) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += escaped(c);
  return quoted + '"';
}

}  // namespace ddpkit
