#include "config/yaml_tree.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include "ddpkit/base/text.hpp"

namespace ddpkit {
namespace {

constexpr std::size_t kDeepest = 32;
constexpr char kNoAliases[] = "aliases (*name) are not supported; write the value out";

// Ends the reading of a document that cannot be understood any further.
struct Unreadable {
  Position at;
  std::string message;
};

Position position_of(const YAML::Mark& mark) {
  return mark.is_null() ? Position{} : Position{mark.line + 1, mark.column + 1};
}

// yaml-cpp says "?" for plain scalars and "!" for quoted ones where the text has no tag.
bool is_tag(const std::string& tag) {
  return !tag.empty() && tag != "?" && tag != "!";
}

class TreeBuilder final : public YAML::EventHandler {
 public:
  TreeBuilder(const Source& source, Problems& problems) : source_(source), problems_(problems) {}

  YamlNode take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) throw Unreadable{position_of(mark), "a second document begins here; a run file holds one"};
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { attach(start(YamlNode::Kind::null, mark, "", anchor)); }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    refuse(position_of(mark), kNoAliases);
    attach(start(YamlNode::Kind::refused, mark, "", 0));
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, const std::string& value) override {
    YamlNode node = start(YamlNode::Kind::scalar, mark, tag, anchor);
    node.text = value;
    node.quotes = tag == "!" ? YamlNode::Quotes::present : YamlNode::Quotes::none;
    attach(std::move(node));
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(start(YamlNode::Kind::sequence, mark, tag, anchor));
  }
  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, YAML::EmitterStyle::value) override {
    open(start(YamlNode::Kind::map, mark, tag, anchor));
  }
  void OnMapEnd() override { close(); }

 private:
  // A sequence or map that has not ended yet.
  struct Open {
    YamlNode node;
    std::set<std::string> keys = {};
    std::optional<YamlEntry> pending = {};  // a key that waits for its value
  };

  void refuse(Position at, std::string_view message) { problems_.add(source_, at, "", message); }

  YamlNode start(YamlNode::Kind kind, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    const Position at = position_of(mark);
    if (anchor != 0) refuse(at, "anchors (&name) are not supported; write the value out where it is needed");
    if (is_tag(tag)) refuse(at, text("tags (", tag, ") are not supported"));
    return {.kind = kind, .at = at};
  }

  void open(YamlNode node) {
    if (open_.size() >= kDeepest) throw Unreadable{node.at, text("nested deeper than ", kDeepest, " levels")};
    open_.push_back({.node = std::move(node)});
  }

  void close() {
    YamlNode node = std::move(open_.back().node);
    open_.pop_back();
    attach(std::move(node));
  }

  void attach(YamlNode node) {
    if (open_.empty()) {
      root_ = std::move(node);
    } else if (open_.back().node.kind == YamlNode::Kind::sequence) {
      open_.back().node.items.push_back(std::move(node));
    } else if (open_.back().pending) {
      attach_value(open_.back(), std::move(node));
    } else {
      attach_key(open_.back(), std::move(node));
    }
  }

  // Entries with a key that was refused are kept nowhere.
  static void attach_value(Open& map, YamlNode node) {
    YamlEntry entry = std::move(*map.pending);
    map.pending.reset();
    if (entry.key.empty()) return;
    if (node.at.line == 0) node.at = entry.key_at;
    entry.value = std::move(node);
    map.node.entries.push_back(std::move(entry));
  }

  void attach_key(Open& map, YamlNode node) {
    map.pending = YamlEntry{.key_at = node.at};
    if (node.kind != YamlNode::Kind::scalar || node.text.empty()) {
      if (node.kind != YamlNode::Kind::refused) refuse(node.at, "a key must be a name");
    } else if (node.text == "<<") {
      refuse(node.at, "merge keys (<<) are not supported; write the settings out");
    } else if (!map.keys.insert(node.text).second) {
      refuse(node.at, text("the key '", node.text, "' is given twice"));
    } else {
      map.pending->key = std::move(node.text);
    }
  }

  const Source& source_;
  Problems& problems_;
  std::vector<Open> open_;
  YamlNode root_;
  int documents_ = 0;
};

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\r' && c != '\t';
}

// yaml-cpp takes 0x04 for the end of the text and explains tabs badly, so both are looked for first.
bool has_readable_characters(std::string_view content, const Source& source, Problems& problems) {
  Position at{1, 1};
  bool in_indentation = true;
  bool clean = true;
  for (const char c : content) {
    const bool tab = c == '\t' && in_indentation;
    if (tab) problems.add(source, at, "", "a tab in the indentation; YAML wants spaces");
    if (is_control(c)) problems.add(source, at, "", text("a control character (code ", static_cast<int>(c), ")"));
    clean = clean && !tab && !is_control(c);
    in_indentation = c == '\n' || (in_indentation && c == ' ');
    at = c == '\n' ? Position{at.line + 1, 1} : Position{at.line, at.column + 1};
  }
  return clean;
}

// yaml-cpp looks an alias up before it tells us of it.
std::string message_of(const YAML::Exception& error) {
  return error.msg == YAML::ErrorMsg::UNKNOWN_ANCHOR ? kNoAliases : "not valid YAML: " + error.msg;
}

// yaml-cpp lets a quote stay open until the end of the text, but not across the mark that ends a document.
std::string with_end_mark(std::string_view content) {
  const std::size_t last_line = content.find_last_of('\n', content.find_last_not_of("\n\r ")) + 1;
  const bool has_one = content.substr(std::min(last_line, content.size())).starts_with("...");
  const std::string_view line_end = content.ends_with('\n') ? "" : "\n";
  return std::string(content).append(line_end).append(has_one ? "" : "...\n");
}

void parse(std::string_view content, TreeBuilder& builder) {
  std::istringstream stream(with_end_mark(content));
  YAML::Parser parser(stream);
  while (parser.HandleNextDocument(builder)) {
  }
}

}  // namespace

YamlNode read_yaml(std::string_view content, const Source& source, Problems& problems) {
  if (content.size() > kLargestRunFile) {
    problems.add(source, {}, "", "larger than 1 MiB; is this the right file?");
    return {.kind = YamlNode::Kind::refused};
  }
  if (!has_readable_characters(content, source, problems)) return {.kind = YamlNode::Kind::refused};
  TreeBuilder builder(source, problems);
  try {
    parse(content, builder);
    return builder.take();
  } catch (const Unreadable& error) {
    problems.add(source, error.at, "", error.message);
  } catch (const YAML::Exception& error) {
    problems.add(source, position_of(error.mark), "", message_of(error));
  }
  return {.kind = YamlNode::Kind::refused};
}

}  // namespace ddpkit
