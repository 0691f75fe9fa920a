#include "config/field_reader.hpp"

#include <algorithm>
#include <array>

#include "ddpkit/base/text.hpp"

namespace ddpkit {
namespace {

constexpr std::size_t kLongestQuotation = 60;

std::string shortened(const std::string& text) {
  std::string clean = yaml_text(text);
  if (!text.empty() && clean == '"' + text + '"') clean = text;
  return clean.size() <= kLongestQuotation ? clean : clean.substr(0, kLongestQuotation) + "...";
}

std::string description_of(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::sequence: return "a list";
    case YamlNode::Kind::map: return "a mapping";
    case YamlNode::Kind::scalar: break;
    case YamlNode::Kind::null:
    case YamlNode::Kind::refused: return "nothing";
  }
  return node.quotes == YamlNode::Quotes::present ? '"' + node.text.substr(0, kLongestQuotation) + '"' : shortened(node.text);
}

std::string_view meant_boolean(std::string_view text) {
  constexpr std::array<std::string_view, 9> kTrue{"yes", "Yes", "YES", "on", "On", "ON", "True", "TRUE", "1"};
  constexpr std::array<std::string_view, 9> kFalse{"no", "No", "NO", "off", "Off", "OFF", "False", "FALSE", "0"};
  if (std::find(kTrue.begin(), kTrue.end(), text) != kTrue.end()) return "true";
  if (std::find(kFalse.begin(), kFalse.end(), text) != kFalse.end()) return "false";
  return {};
}

std::string did_you_mean(std::string_view name) {
  return name.empty() ? std::string() : text("; did you mean '", name, "'?");
}

// The full path of a field that has this name in some other section; the one nearest to the root.
std::string elsewhere(std::string_view name) {
  std::string found;
  const auto depth = [](const std::string& path) { return std::count(path.begin(), path.end(), '.'); };
  for_each_leaf(describe({}), "", [&](const std::string& path, const Field& field) {
    if (field.name == name && (found.empty() || depth(path) < depth(found))) found = path;
  });
  return found;
}

std::string hint_for_key(const std::string& key, const std::vector<std::string_view>& known, FieldReader::Hints hints) {
  if (const std::string_view near = nearest_name(key, known); !near.empty()) return did_you_mean(near);
  const std::string other = hints == FieldReader::Hints::run_file ? elsewhere(key) : "";
  if (!other.empty()) return did_you_mean(other);
  std::string valid = "; valid here: ";
  for (const std::string_view name : known) valid.append(name == known.front() ? "" : ", ").append(name);
  return valid;
}

}  // namespace

bool FieldReader::is_value(const YamlNode& node, FieldKind kind) {
  if (node.kind != YamlNode::Kind::scalar) return false;
  return node.quotes == YamlNode::Quotes::none || !is_bare(kind) || node.text == "auto";
}

bool FieldReader::is_section(const YamlNode& node, const std::string& path) {
  if (node.kind == YamlNode::Kind::map) return true;
  const bool nothing = node.kind == YamlNode::Kind::null;  // a section whose keys are all commented out
  if (!nothing) refuse(node, path, {.kind = FieldKind::section, .text = ""}, "a mapping of keys to values");
  return false;
}

bool FieldReader::is_list(const YamlNode& node, const std::string& path) {
  if (node.kind == YamlNode::Kind::sequence) return true;
  refuse(node, path, {.kind = FieldKind::list, .text = ""}, "a list such as [a, b]");
  return false;
}

void FieldReader::refuse(const YamlNode& node, const std::string& path, const Wanted& wanted, std::string_view expected) {
  if (node.kind == YamlNode::Kind::refused) return;
  std::string hint;
  if (node.kind == YamlNode::Kind::scalar && node.quotes == YamlNode::Quotes::present && is_bare(wanted.kind))
    hint = ", which is a text because of its quotes";
  else if (wanted.kind == FieldKind::boolean && !meant_boolean(node.text).empty())
    hint = text("; write ", meant_boolean(node.text));
  else if (node.kind == YamlNode::Kind::scalar)
    hint = did_you_mean(nearest_name(node.text, wanted.choices));
  problems_.add(source_, node.at, path, text("expected ", expected, ", got ", description_of(node), hint));
}

void FieldReader::refuse_unknown_keys(const YamlNode& section, const std::string& path,
                                      const std::vector<std::string_view>& known) {
  for (const YamlEntry& entry : section.entries) {
    if (std::find(known.begin(), known.end(), entry.key) != known.end()) continue;
    const std::string hint = problems_.full() ? "" : hint_for_key(entry.key, known, hints_);
    problems_.add(source_, entry.key_at, join_path(path, shortened(entry.key)), "unknown key" + hint);
  }
}

void FieldReader::read(const YamlNode& node, const std::string& path, UserSettings& settings, const Range&) {
  if (!is_section(node, path)) return;
  for (const YamlEntry& entry : node.entries) {
    const std::string name = join_path(path, entry.key);
    if (!is_value(entry.value, FieldKind::string)) {
      refuse(entry.value, name, {.kind = FieldKind::string, .text = ""}, "a single value");
      continue;
    }
    const std::string origin = source_.origin(entry.value.at);
    settings.set(entry.key, entry.value.text, source_.place(entry.value.at));
    origins_.set(name, origin);
  }
}

}  // namespace ddpkit
