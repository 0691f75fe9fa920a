#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "ddpkit/config/load_config.hpp"
#include "ddpkit/config/print_config.hpp"
#include "verbs.hpp"

namespace ddpkit::tool {
namespace {

struct ConfigVerb {
  std::string file;
  std::vector<std::string> overrides;
  bool json = false;

  void run() const {
    const LoadedConfig loaded = load_config({.file = file, .overrides = overrides});
    if (json)
      std::cout << config_json(loaded) << '\n';
    else
      std::cout << print_config(loaded);
  }
};

}  // namespace

void add_config_verb(CLI::App& app) {
  const auto verb = std::make_shared<ConfigVerb>();
  CLI::App* command = app.add_subcommand("config", "check a run file and print the merged configuration with its origins");
  command->add_option("--config", verb->file, "YAML run file; without it, the defaults");
  command->add_option("--set", verb->overrides, "section.option=value, may be repeated")->expected(1)->take_all();
  command->add_flag("--json", verb->json, "print one JSON document");
  command->callback([verb] { verb->run(); });
}

}  // namespace ddpkit::tool
