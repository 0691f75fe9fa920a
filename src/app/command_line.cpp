#include "app/command_line.hpp"

#include <CLI/CLI.hpp>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/base/version.hpp"

namespace ddpkit {
namespace {

constexpr const char* kFooter =
    "Start it on several ranks with: mpirun -np N PROGRAM train --config FILE\n"
    "`config` prints the merged configuration with the origin of every value.";

void add_options(CLI::App& app, CommandLine& line, bool& json) {
  app.add_option("-c,--config", line.config_file, "YAML run file");
  // take_all off: one value per --set, so that a verb may follow it.
  app.add_option("--set", line.overrides, "override one value of the run file: batch.global=1024")->allow_extra_args(false);
  app.add_flag("--json", json, "print one JSON document on standard output");
  const std::map<std::string, LogLevel> levels{
      {"debug", LogLevel::debug}, {"info", LogLevel::info}, {"warning", LogLevel::warning}, {"error", LogLevel::error}};
  app.add_option("--log-level", line.log_level, "debug, info, warning or error")->transform(CLI::CheckedTransformer(levels));
}

void add_probe(CLI::App& app, CommandLine& line) {
  CLI::App* probe = app.add_subcommand("probe", "measure memory and time of one window of the configured batch");
  probe->add_option("--repeat", line.probe.windows, "measure so many windows, as a stress test before a long run")
      ->check(CLI::PositiveNumber);
  probe
      ->add_option("--profile", line.probe.profile_file,
                   "also write a profile of the step into this file, for `ddpkit simulate`; takes 20 windows without --repeat")
      ->type_name("FILE");
  probe->callback([&] { line.verb = Verb::probe; });
}

void add_tune(CLI::App& app, CommandLine& line) {
  CLI::App* tune = app.add_subcommand("tune", "find micro-batch and accumulation for batch.global on these ranks");
  tune->add_option("--out", line.tune.dir, "folder for tune.json and tune.svg instead of a run folder");
  tune->add_flag_callback(
      "--write", [&] { line.tune.run_file = RunFileEdit::write; }, "put the batch into the run file");
  tune->callback([&] { line.verb = Verb::tune; });
}

}  // namespace

std::variant<CommandLine, std::string> parse_command_line(int argc, char** argv) {
  CommandLine line;
  bool json = false;
  CLI::App app("A training program made with ddpkit");
  app.footer(kFooter);
  app.set_version_flag("--version", std::string(version()));
  app.require_subcommand(0, 1);
  app.fallthrough();
  add_options(app, line, json);
  app.add_subcommand("train", "train the model (the default)")->callback([&] { line.verb = Verb::train; });
  app.add_subcommand("evaluate", "evaluate the weights of run.resume or run.init_from on data.valid")->callback([&] {
    line.verb = Verb::evaluate;
  });
  add_probe(app, line);
  add_tune(app, line);
  app.add_subcommand("config", "print the merged configuration")->callback([&] { line.verb = Verb::config; });
  bool print_config = false;
  app.add_flag("--print-config", print_config, "the same as the verb config");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return app.help();
  } catch (const CLI::CallForVersion&) {
    return text("ddpkit ", version(), "\n");
  } catch (const CLI::ParseError& error) {
    throw UsageError(text(error.what(), "; ", argv[0], " --help lists what there is"));
  }
  constexpr std::int64_t kProfileWindows = 20;
  if (!line.probe.profile_file.empty() && app.get_subcommand("probe")->count("--repeat") == 0)
    line.probe.windows = kProfileWindows;
  if (print_config) line.verb = Verb::config;
  if (line.tune.run_file == RunFileEdit::write && line.config_file.empty())
    throw UsageError("tune --write: there is no run file to write to; name it with --config FILE");
  line.output = json ? OutputFormat::json : OutputFormat::text;
  return line;
}

}  // namespace ddpkit
