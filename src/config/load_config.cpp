#include "ddpkit/config/load_config.hpp"

#include <map>
#include <utility>

#include "config/field_reader.hpp"
#include "config/problems.hpp"
#include "config/read_text_file.hpp"
#include "config/yaml_tree.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/config/check.hpp"

namespace ddpkit {
namespace {

std::map<std::string, std::string> texts_of(const RunConfig& config) {
  std::map<std::string, std::string> texts;
  for_each_leaf(describe(config), "", [&](const std::string& path, const Field& field) { texts[path] = flow_text(field); });
  return texts;
}

// What the program set to something else than the default is its own, and has to be legal like everything else.
void take_program(const RunConfig& program, Origins& origins, Problems& problems) {
  const std::map<std::string, std::string> defaults = texts_of({});
  for_each_leaf(describe(program), "", [&](const std::string& path, const Field& field) {
    const auto standard = defaults.find(path);
    if (standard != defaults.end() && standard->second == flow_text(field)) return;
    origins.set(path, "program");
    if (!field.complaint.empty()) problems.add("program", path, text("expected ", field.complaint, ", got ", field.value));
  });
}

// "batch.global" and a value become the tree {batch: {global: value}}.
YamlNode nested(std::string_view path, YamlNode value) {
  const std::size_t dot = path.find('.');
  YamlEntry entry{.key = std::string(path.substr(0, dot)), .key_at = {}, .value = std::move(value)};
  if (dot != std::string_view::npos) entry.value = nested(path.substr(dot + 1), std::move(entry.value));
  YamlNode map{.kind = YamlNode::Kind::map};
  map.entries.push_back(std::move(entry));
  return map;
}

YamlNode read_override(const Source& source, Problems& problems) {
  const std::string& typed = source.name;
  const std::size_t equals = typed.find('=');
  if (equals == std::string::npos || equals == 0) {
    problems.add(source, {}, "", "expected key.path=value");
    return {.kind = YamlNode::Kind::refused};
  }
  const std::string value = typed.substr(equals + 1);
  YamlNode node = read_yaml(value, source, problems);
  if (value.empty()) node = {.kind = YamlNode::Kind::scalar};  // `--set run.resume=` empties a text
  if (node.kind == YamlNode::Kind::refused) return node;
  return nested(std::string_view(typed).substr(0, equals), std::move(node));
}

class Loader {
 public:
  explicit Loader(const RunConfig& program) : loaded_{program, {}} { take_program(program, loaded_.origins, problems_); }

  void merge_file(const std::string& path) {
    const Source source{.kind = Source::Kind::file, .name = path, .order = 0};
    merge(source, read_yaml(read_text_file(path, "the run file"), source, problems_));
  }

  void merge_override(const std::string& typed, int order) {
    const Source source{.kind = Source::Kind::override, .name = typed, .order = order};
    merge(source, read_override(source, problems_));
  }

  LoadedConfig finish() {
    const Problems before = problems_;  // one finding does not silence the next
    for (const Finding& finding : check(loaded_.config)) report(finding, before);
    problems_.throw_if_any();
    return std::move(loaded_);
  }

 private:
  void merge(const Source& source, const YamlNode& node) {
    FieldReader(source, problems_, loaded_.origins).read(node, "", loaded_.config);
  }

  // A field that was refused kept its old value, so what seems not to fit with it would mislead.
  void report(const Finding& finding, const Problems& before) {
    std::string_view place = loaded_.origins.of(finding.paths.front());
    for (const std::string& path : finding.paths) {
      if (before.in_section_of(path)) return;
      if (place == "default") place = loaded_.origins.of(path);
    }
    problems_.add(place, finding.paths.front(), finding.message);
  }

  LoadedConfig loaded_;
  Problems problems_;
};

}  // namespace

LoadedConfig load_config(const LoadRequest& request) {
  Loader loader(request.program);
  if (!request.file.empty()) loader.merge_file(request.file);
  int order = 0;
  for (const std::string& typed : request.overrides) loader.merge_override(typed, ++order);
  return loader.finish();
}

}  // namespace ddpkit
