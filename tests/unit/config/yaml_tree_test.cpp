#include "config/yaml_tree.hpp"

#include <string>

#include "ddpkit/base/error.hpp"
#include "support/catch.hpp"

using namespace ddpkit;

namespace {

const Source kSource{.kind = Source::Kind::file, .name = "f.yaml"};

YamlNode tree_of(const std::string& text) {
  Problems problems;
  YamlNode node = read_yaml(text, kSource, problems);
  problems.throw_if_any();
  return node;
}

std::string problem_of(const std::string& text) {
  Problems problems;
  read_yaml(text, kSource, problems);
  try {
    problems.throw_if_any();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return {};
}

std::string repeated(const std::string& piece, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += piece;
  return all;
}

}  // namespace

TEST_CASE("a tree keeps order, text, quotes and places from one") {
  const YamlNode root = tree_of("run: {name: 'x y'}\nlist:\n  - off\n  - 010\nnone: ~\n");
  REQUIRE(root.entries.size() == 3);
  CHECK(root.entries[0].key == "run");
  const YamlEntry& name = root.entries[0].value.entries.at(0);
  CHECK(name.value.text == "x y");
  CHECK(name.value.quotes == YamlNode::Quotes::present);
  CHECK(name.key_at.line == 1);
  CHECK(name.key_at.column == 7);
  CHECK(name.value.at.column == 13);
  const YamlNode& list = root.entries[1].value;
  REQUIRE(list.items.size() == 2);
  CHECK(list.items[0].text == "off");
  CHECK(list.items[1].text == "010");
  CHECK(list.items[1].at.line == 4);
  CHECK(list.items[1].quotes == YamlNode::Quotes::none);
  CHECK(root.entries[2].value.kind == YamlNode::Kind::null);
}

TEST_CASE("nothing, comments and an empty document are no settings at all") {
  for (const char* text : {"", "\n", "# only a comment\n", "---\n", "---\n...\n"})
    CHECK(tree_of(text).kind == YamlNode::Kind::null);
}

TEST_CASE("a key given twice is refused where it comes the second time") {
  CHECK(problem_of("a: 1\nb: 2\na: 3\n") == "f.yaml:3:1: the key 'a' is given twice");
  CHECK(problem_of("s: {x: 1, x: 2}") == "f.yaml:1:11: the key 'x' is given twice");
}

TEST_CASE("what other readers would understand differently is refused") {
  CHECK(problem_of("a: 1\n---\nb: 2\n") == "f.yaml:2:1: a second document begins here; a run file holds one");
  CHECK(problem_of("a: &x 1\n") == "f.yaml:1:4: anchors (&name) are not supported; write the value out where it is needed");
  CHECK(problem_of("a: *x\n") == "f.yaml:1:4: aliases (*name) are not supported; write the value out");
  CHECK(problem_of("<<: {a: 1}\n") == "f.yaml:1:1: merge keys (<<) are not supported; write the settings out");
  CHECK(problem_of("a: !!str 1\n") == "f.yaml:1:4: tags (tag:yaml.org,2002:str) are not supported");
  CHECK(problem_of("? [a, b]\n: 1\n") == "f.yaml:1:3: a key must be a name");
  CHECK(problem_of("~: 1\n") == "f.yaml:1:1: a key must be a name");
}

TEST_CASE("an alias is refused once and its anchor too") {
  const std::string problem = problem_of("a: &x {b: 1}\nc: *x\n");
  CHECK(problem ==
        "f.yaml:1:4: anchors (&name) are not supported; write the value out where it is needed\n"
        "f.yaml:2:4: aliases (*name) are not supported; write the value out");
}

TEST_CASE("tabs in the indentation are named, tabs elsewhere are fine") {
  CHECK(problem_of("a:\n\tb: 1\n") == "f.yaml:2:1: a tab in the indentation; YAML wants spaces");
  CHECK(problem_of("a: 1\t# comment\n") == "");
}

TEST_CASE("control characters do not end the file early") {
  CHECK(problem_of(std::string("a: 1\n\x04zzz: 2\n")) == "f.yaml:2:1: a control character (code 4)");
  CHECK(problem_of(std::string("a: 1\0", 5)) == "f.yaml:1:5: a control character (code 0)");
}

TEST_CASE("broken YAML is told with its place") {
  CHECK(problem_of("a: [1, 2\nb: 3\n").rfind("f.yaml:", 0) == 0);
  CHECK(problem_of("a: [1\n").find("not valid YAML") != std::string::npos);
}

TEST_CASE("the last value of a file is what it would be elsewhere in the file") {
  CHECK(tree_of("a: |\n  x\n").entries.at(0).value.text == "x\n");
  CHECK(tree_of("a: |+\n  x\n\n").entries.at(0).value.text == "x\n\n");
  CHECK(tree_of("a: x").entries.at(0).value.text == "x");
  CHECK(tree_of("a: x\n...\n").entries.at(0).value.text == "x");
}

TEST_CASE("a quote that stays open does not swallow the rest of the file") {
  for (const char* text : {"a: 'x\n", "a: 'x", "a: \"x\nb: 1\n", "a: {b: 'x}\nc: 1\n\n"})
    CHECK(problem_of(text).find("not valid YAML: illegal document indicator in scalar") != std::string::npos);
}

TEST_CASE("size and depth have limits") {
  CHECK(problem_of(repeated("[", 32) + repeated("]", 32)) == "");
  CHECK(problem_of(repeated("[", 33) + repeated("]", 33)) == "f.yaml:1:33: nested deeper than 32 levels");
  CHECK(problem_of(repeated("{a: ", 100000)).find("nested deeper than 32 levels") != std::string::npos);
  CHECK(problem_of("#" + std::string(1 << 20, 'x')) == "f.yaml: larger than 1 MiB; is this the right file?");
}
