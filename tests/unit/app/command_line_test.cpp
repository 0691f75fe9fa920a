#include "app/command_line.hpp"

#include "ddpkit/base/error.hpp"
#include "support/catch.hpp"

namespace ddpkit {
namespace {

std::variant<CommandLine, std::string> parse(std::vector<std::string> words) {
  words.insert(words.begin(), "program");
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  return parse_command_line(static_cast<int>(arguments.size()), arguments.data());
}

CommandLine line_of(std::vector<std::string> words) {
  return std::get<CommandLine>(parse(std::move(words)));
}

}  // namespace

TEST_CASE("without a word the program trains, and says so to people") {
  const CommandLine line = line_of({});
  CHECK(line.verb == Verb::train);
  CHECK(line.output == OutputFormat::text);
  CHECK(line.log_level == LogLevel::info);
  CHECK(line.config_file.empty());
  CHECK(line.overrides.empty());
}

TEST_CASE("verbs and options may come in any order") {
  for (const auto& words :
       {std::vector<std::string>{"evaluate", "--config", "a.yaml", "--set", "x=1", "--set", "y=[2, 3]", "--json"},
        {"--json", "--set", "x=1", "--set", "y=[2, 3]", "-c", "a.yaml", "evaluate"},
        {"--set", "x=1", "evaluate", "--set", "y=[2, 3]", "--config=a.yaml", "--json"}}) {
    const CommandLine line = line_of(words);
    CHECK(line.verb == Verb::evaluate);
    CHECK(line.config_file == "a.yaml");
    CHECK(line.overrides == std::vector<std::string>{"x=1", "y=[2, 3]"});
    CHECK(line.output == OutputFormat::json);
  }
  CHECK(line_of({"config"}).verb == Verb::config);
  CHECK(line_of({"train", "--print-config"}).verb == Verb::config);
  CHECK(line_of({"--log-level", "debug"}).log_level == LogLevel::debug);
}

TEST_CASE("probe counts windows, and tune says where its result goes") {
  CHECK(line_of({"probe"}).verb == Verb::probe);
  CHECK(line_of({"probe"}).probe.windows == 1);
  CHECK(line_of({"probe", "--repeat", "500"}).probe.windows == 500);
  CHECK(line_of({"tune"}).verb == Verb::tune);
  CHECK(line_of({"tune"}).tune.run_file == RunFileEdit::leave);
  const CommandLine line = line_of({"tune", "--write", "--out", "found", "--config", "a.yaml"});
  CHECK(line.tune.run_file == RunFileEdit::write);
  CHECK(line.tune.dir == "found");
  CHECK_THROWS_AS(parse({"probe", "--repeat", "0"}), UsageError);
  CHECK_THROWS_WITH(parse({"tune", "--write"}), Catch::Contains("name it with --config"));
}

TEST_CASE("help and version are texts to print") {
  CHECK_THAT(std::get<std::string>(parse({"--help"})), Catch::Contains("mpirun") && Catch::Contains("evaluate"));
  CHECK_THAT(std::get<std::string>(parse({"--version"})), Catch::StartsWith("ddpkit "));
}

TEST_CASE("a wrong command line is a UsageError that names the word and the way to help") {
  for (const auto& words :
       {std::vector<std::string>{"tarin"}, {"--nope"}, {"train", "evaluate"}, {"--config"}, {"--log-level", "loud"}}) {
    CAPTURE(words);
    CHECK_THROWS_AS(parse(words), UsageError);
    CHECK_THROWS_WITH(parse(words), Catch::Contains("program --help"));
  }
  CHECK_THROWS_WITH(parse({"tarin"}), Catch::Contains("tarin"));
}

}  // namespace ddpkit
