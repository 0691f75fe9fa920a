#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "ddpkit/config/schema.hpp"
#include "verbs.hpp"

namespace ddpkit::tool {

void add_schema_verb(CLI::App& app) {
  const auto markdown = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("schema", "print the JSON Schema of run files");
  command->add_flag("--markdown", *markdown, "print the reference page of all options instead");
  command->callback([markdown] {
    if (*markdown)
      std::cout << options_page();
    else
      std::cout << json_schema() << '\n';
  });
}

}  // namespace ddpkit::tool
