#include "ddpkit/config/print_config.hpp"

#include <algorithm>
#include <string_view>

#include "config/field_tree.hpp"

namespace ddpkit {
namespace {

constexpr std::size_t kCommentColumn = 40;

class Printer {
 public:
  explicit Printer(const Origins* origins) : origins_(origins) {}

  void print_sections(const Field& root) {
    for (const Field& section : root.children) {
      if (!out.empty()) out += '\n';
      print(section, section.name, "");
    }
  }

  std::string out;

 private:
  void print(const Field& field, const std::string& path, const std::string& indent) {
    const bool section = field.kind == FieldKind::section || field.kind == FieldKind::user;
    const bool list_of_sections = field.kind == FieldKind::list && field.element.front().kind == FieldKind::section;
    const std::string key = indent + yaml_text(field.name) + ":";
    if (field.children.empty() && (section || list_of_sections))
      line(key + (section ? " {}" : " []"), path);
    else if (section)
      print_section(field, path, key, indent + "  ");
    else if (list_of_sections)
      print_list(field, path, key, indent + "  ");
    else
      line(key + " " + flow_text(field), path);
  }

  void print_section(const Field& section, const std::string& path, const std::string& key, const std::string& indent) {
    out += key + '\n';
    for (const Field& child : section.children) print(child, join_path(path, child.name), indent);
  }

  void print_list(const Field& list, const std::string& path, const std::string& key, const std::string& indent) {
    line(key, path);
    for (std::size_t i = 0; i < list.children.size(); ++i) {
      const std::size_t begin = out.size();
      const std::string item = item_path(path, i);
      for (const Field& child : list.children[i].children) print(child, join_path(item, child.name), indent + "  ");
      out[begin + indent.size()] = '-';
    }
  }

  void line(std::string text, const std::string& path) {
    if (origins_ != nullptr) {
      text.resize(std::max(text.size() + 2, kCommentColumn), ' ');
      text.append("# ").append(origins_->of(path));
    }
    out += text + '\n';
  }

  const Origins* origins_;
};

}  // namespace

std::string print_config(const RunConfig& config) {
  Printer printer(nullptr);
  printer.print_sections(describe(config));
  return std::move(printer.out);
}

std::string print_config(const LoadedConfig& loaded) {
  Printer printer(&loaded.origins);
  printer.print_sections(describe(loaded.config));
  return std::move(printer.out);
}

std::vector<Fact> config_facts(const RunConfig& config) {
  std::vector<Fact> facts;
  for_each_leaf(describe(config), "", [&](const std::string& path, const Field& field) {
    facts.push_back({path, flow_text(field)});
  });
  return facts;
}

}  // namespace ddpkit
