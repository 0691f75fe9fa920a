#include <string>

#include "config/field_tree.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/config/schema.hpp"

namespace ddpkit {
namespace {

constexpr char kIntroduction[] =
    "# Options\n"
    "\n"
    "Everything a run file can say. Made by `ddpkit schema --markdown`; do not edit.\n"
    "\n"
    "- On the command line: `--set section.option=value`, lists as `--set 'schedule.milestones=[30 epochs, 60 epochs]'`.\n"
    "- A size has a unit (`25MiB`: B, KiB, MiB, GiB, TiB), a duration too (`120s`: ms, s, m, h).\n"
    "- A stretch of training is `500 steps`, `5 epochs` or `5%` of the run; a bare `0` is none.\n"
    "- Later layers win: the defaults below, the program's own, the file, `--set`. `ddpkit config` shows who gave what.\n";

std::string type_of(const Field& field) {
  std::string type(noun_of(field.kind));
  type.erase(0, type.starts_with("a ") ? 2 : 0);
  if (field.kind == FieldKind::choice) {
    type.clear();
    for (const std::string& choice : field.choices) type.append(type.empty() ? "`" : ", `").append(choice).append("`");
  }
  if (field.kind == FieldKind::list) return text("list of: ", type_of(field.element.front()));
  if (field.kind == FieldKind::section) return "mapping";
  type += range_text(field.kind, field.range);
  return field.absent == Field::Absent::automatic ? type + ", or `auto`" : type;
}

std::string default_of(const Field& field) {
  const std::string value = flow_text(field);
  return value == "\"\"" ? "empty" : text('`', value, '`');
}

void add_rows(std::string& page, const Field& section, const std::string& path) {
  for (const Field& field : section.children) {
    const std::string name = join_path(path, field.name);
    if (field.kind == FieldKind::section) {
      add_rows(page, field, name);
      continue;
    }
    page += text("| `", name, "` | ", type_of(field), " | ", default_of(field), " | ", field.help, " |\n");
    if (field.kind == FieldKind::list) add_rows(page, field.element.front(), name + "[]");
  }
}

}  // namespace

std::string options_page() {
  std::string page = kIntroduction;
  for (const Field& section : describe({}).children) {
    page += text("\n## `", section.name, "`\n\n", section.help, "\n");
    if (section.children.empty()) continue;
    page += "\n| option | value | default | meaning |\n|---|---|---|---|\n";
    add_rows(page, section, section.name);
  }
  return page;
}

}  // namespace ddpkit
