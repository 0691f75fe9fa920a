#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/field_tree.hpp"
#include "config/problems.hpp"
#include "config/yaml_tree.hpp"
#include "ddpkit/config/origins.hpp"

namespace ddpkit {

/// Writes one tree over the fields of a struct. What is wrong goes to `problems`, and the field keeps its value; where each
/// value came from goes to `origins`. All three must outlive the reader.
class FieldReader {
 public:
  /// Which names a misspelt key is compared with where nothing in its section is near.
  enum class Hints { run_file, section };

  FieldReader(const Source& source, Problems& problems, Origins& origins, Hints hints = Hints::run_file)
      : source_(source), problems_(problems), origins_(origins), hints_(hints) {}

  template <FieldStruct T>
  void read(const YamlNode& node, const std::string& path, T& section, const Range& = {}) {
    if (!is_section(node, path)) return;
    SectionVisitor visitor{*this, node, path, {}};
    visit_fields(visitor, section);
    refuse_unknown_keys(node, path, visitor.known);
  }

  template <class T>
  void read(const YamlNode& node, const std::string& path, std::vector<T>& list, const Range& range) {
    if (!is_list(node, path)) return;
    origins_.forget_elements(path);
    origins_.set(path, source_.origin(node.at));
    list.assign(node.items.size(), T{});
    for (std::size_t i = 0; i < node.items.size(); ++i) {
      T item{};  // std::vector<bool> has no addressable elements
      read(node.items[i], item_path(path, i), item, range);
      list[i] = std::move(item);
    }
    if constexpr (!FieldStruct<T>) origins_.forget_elements(path);  // single values stand where their list stands
  }

  void read(const YamlNode& node, const std::string& path, UserSettings& settings, const Range& = {});

  template <class T>
  void read(const YamlNode& node, const std::string& path, T& value, const Range& range) {
    const Wanted wanted = wanted_by(value, range);
    T parsed = value;
    std::string expected = wanted.text;
    if (is_value(node, wanted.kind)) expected = assign_scalar(node.text, parsed, range);
    if (!expected.empty()) return refuse(node, path, wanted, expected);
    value = parsed;
    origins_.set(path, source_.origin(node.at));
  }

 private:
  struct Wanted {
    FieldKind kind;
    std::string text;  // what is expected of any value
    std::vector<std::string_view> choices = {};
  };

  // Hands each field the entry of its name.
  struct SectionVisitor {
    FieldReader& reader;
    const YamlNode& section;
    const std::string& path;
    std::vector<std::string_view> known;

    template <class T>
    void operator()(std::string_view name, T& value, std::string_view, const Range& range = {}) {
      known.push_back(name);
      for (const YamlEntry& entry : section.entries)
        if (entry.key == name) reader.read(entry.value, join_path(path, name), value, range);
    }
  };

  template <class T>
  static Wanted wanted_by(T value, const Range& range) {
    Wanted wanted{.kind = kind_of<T>(), .text = assign_scalar("", value, range)};
    if (wanted.text.empty()) wanted.text = noun_of(wanted.kind);  // a text may be empty
    if constexpr (NamedEnum<T>)
      for (const auto& [candidate, name] : enum_names(value)) wanted.choices.push_back(name);
    return wanted;
  }

  template <class T>
  static Wanted wanted_by(const std::optional<T>& value, const Range& range) {
    Wanted wanted = wanted_by(value.value_or(T{}), range);
    wanted.text += " or auto";
    return wanted;
  }

  static bool is_value(const YamlNode& node, FieldKind kind);
  bool is_section(const YamlNode& node, const std::string& path);
  bool is_list(const YamlNode& node, const std::string& path);
  void refuse(const YamlNode& node, const std::string& path, const Wanted& wanted, std::string_view expected);
  void refuse_unknown_keys(const YamlNode& section, const std::string& path, const std::vector<std::string_view>& known);

  const Source& source_;
  Problems& problems_;
  Origins& origins_;
  Hints hints_;
};

}  // namespace ddpkit
