#include <algorithm>
#include <vector>

#include "config/yaml_tree.hpp"
#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/config/edit_run_file.hpp"

namespace ddpkit {
namespace {

[[noreturn]] void refuse(const SettingEdit& edit, std::string_view why) {
  throw ConfigError(text("the run file cannot be edited safely: ", why, "; write ", edit.section, ": {", edit.key, ": ",
                         edit.value, "} into it by hand"));
}

const YamlNode* find(const YamlNode& map, std::string_view key) {
  for (const YamlEntry& entry : map.entries)
    if (entry.key == key) return &entry.value;
  return nullptr;
}

/// A text, its tree, and one edit of it.
class Editor {
 public:
  Editor(std::string_view yaml, const SettingEdit& edit) : text_(yaml), edit_(edit) {
    Problems problems;
    root_ = read_yaml(yaml, {.kind = Source::Kind::file, .name = "the run file"}, problems);
    problems.throw_if_any();
    if (root_.kind != YamlNode::Kind::map && root_.kind != YamlNode::Kind::null) refuse(edit_, "it is not a list of sections");
  }

  std::string apply(std::string_view after) {
    const YamlNode* section = find(root_, edit_.section);
    if (section == nullptr) return with_new_section();
    if (section->kind == YamlNode::Kind::null) return into_empty(*section);
    if (section->kind != YamlNode::Kind::map) refuse(edit_, text(edit_.section, " is no section"));
    if (const YamlNode* old = find(*section, edit_.key)) return replaced(*old);
    const YamlNode* neighbour = find(*section, after);
    return is_flow(*section) ? into_flow(*section, neighbour) : into_block(*section, neighbour);
  }

 private:
  std::size_t offset(Position at) const {
    std::size_t line_start = 0;
    for (int line = 1; line < at.line; ++line) line_start = text_.find('\n', line_start) + 1;
    return line_start + static_cast<std::size_t>(at.column - 1);
  }

  /// Behind the last character of the line, before its end.
  std::size_t line_end(std::size_t from) const {
    const std::size_t end = std::min(text_.find('\n', from), text_.size());
    return end > from && text_[end - 1] == '\r' ? end - 1 : end;
  }

  std::string_view newline() const { return text_.find("\r\n") != std::string::npos ? "\r\n" : "\n"; }

  bool is_flow(const YamlNode& map) const { return text_.substr(offset(map.at), 1) == "{"; }

  /// As it stands in the text.
  std::size_t length(const YamlNode& scalar) const {
    const std::string_view here = text_.substr(std::min(offset(scalar.at), text_.size()));
    if (scalar.kind != YamlNode::Kind::scalar) refuse(edit_, text("there is no plain value in line ", scalar.at.line));
    const std::size_t quotes = scalar.quotes == YamlNode::Quotes::present ? 2 : 0;
    const bool plain = here.substr(quotes / 2).starts_with(scalar.text);
    const bool closed = quotes == 0 || (here.size() > scalar.text.size() + 1 && here[0] == here[scalar.text.size() + 1]);
    if (!plain || !closed) refuse(edit_, text("line ", scalar.at.line, " is written in an unusual way"));
    return scalar.text.size() + quotes;
  }

  std::string with(std::size_t at, std::size_t removed, std::string_view inserted) const {
    return text(text_.substr(0, at), inserted, text_.substr(at + removed));
  }

  std::string setting() const { return text(edit_.key, ": ", edit_.value); }

  std::string replaced(const YamlNode& old) const { return with(offset(old.at), length(old), edit_.value); }

  std::string into_flow(const YamlNode& map, const YamlNode* neighbour) const {
    if (neighbour != nullptr) return with(offset(neighbour->at) + length(*neighbour), 0, ", " + setting());
    return with(offset(map.at) + 1, 0, map.entries.empty() ? setting() : setting() + ", ");
  }

  std::string into_block(const YamlNode& map, const YamlNode* neighbour) const {
    const YamlEntry& first = map.entries.front();
    const std::string line = std::string(static_cast<std::size_t>(first.key_at.column - 1), ' ') + setting();
    if (neighbour != nullptr) return with(line_end(offset(neighbour->at)), 0, text(newline(), line));
    const std::size_t line_start = offset({first.key_at.line, 1});
    return with(line_start, 0, text(line, newline()));
  }

  /// `batch:` and nothing behind it.
  std::string into_empty(const YamlNode& section) const {
    for (const YamlEntry& entry : root_.entries)
      if (&entry.value == &section) return with(offset(entry.key_at) + entry.key.size() + 1, 0, text(" {", setting(), "}"));
    return {};
  }

  std::string with_new_section() const {
    const std::string section = text(edit_.section, ": {", setting(), "}");
    if (!root_.entries.empty() && is_flow(root_)) return with(offset(root_.at) + 1, 0, section + ", ");
    const bool open = !text_.empty() && !text_.ends_with('\n');
    return text(text_, open ? newline() : "", section, newline());
  }

  std::string_view text_;
  const SettingEdit& edit_;
  YamlNode root_;
};

}  // namespace

std::string edit_settings(std::string_view yaml, std::span<const SettingEdit> edits, std::string_view after) {
  std::string edited(yaml);
  for (const SettingEdit& edit : edits) {
    edited = Editor(edited, edit).apply(after);
    after = edit.key;  // the next one goes behind it
  }
  return edited;
}

}  // namespace ddpkit
