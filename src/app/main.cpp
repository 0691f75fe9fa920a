#include "ddpkit/app/main.hpp"

#include <ATen/Context.h>
#include <ATen/Parallel.h>

#include <exception>
#include <fstream>
#include <iostream>
#include <optional>

#include "app/command_line.hpp"
#include "app/error_boundary.hpp"
#include "app/start_up.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/comm/agree.hpp"
#include "ddpkit/comm/make_communicator.hpp"
#include "ddpkit/config/print_config.hpp"
#include "ddpkit/tensor/cpu_memory.hpp"
#include "ddpkit/tensor/seed.hpp"

namespace ddpkit {
namespace {

/// Before there is a communicator only the launcher's variables tell who we are.
bool first_rank() {
  return read_launch_environment().rank == 0;
}

int print_once(const std::string& what) {
  if (first_rank()) std::cout << what << std::flush;
  return static_cast<int>(ExitStatus::ok);
}

int print_configuration(const CommandLine& line, const LoadedConfig& loaded) {
  return print_once(line.output == OutputFormat::json ? config_json(loaded) + "\n" : print_config(loaded));
}

/// What was asked for, or what is wrong with it, which is reported once the ranks have come together: each has a command line
/// of its own.
struct Attempt {
  std::string help;  ///< to be printed, and nothing else done
  CommandLine line;
  LoadedConfig loaded;
  std::exception_ptr failure;
};

Attempt try_to_read(int argc, char** argv, const RunConfig& defaults) {
  Attempt attempt;
  try {
    auto parsed = parse_command_line(argc, argv);
    if (auto* help = std::get_if<std::string>(&parsed)) {
      attempt.help = std::move(*help);
      return attempt;
    }
    CommandLine& line = attempt.line = std::get<CommandLine>(std::move(parsed));
    attempt.loaded = load_config({.file = line.config_file, .overrides = line.overrides, .program = defaults});
  } catch (...) {
    attempt.failure = std::current_exception();
  }
  return attempt;
}

/// Without a communicator nobody knows whether others have the same error, so every rank tells its own.
int print_lone_error(std::string_view program, std::string_view what, ExitStatus status) {
  std::cerr << text(program, ": rank ", read_launch_environment().rank, ": ", what, "\n") << std::flush;
  return static_cast<int>(status);
}

ExitStatus run_job(Attempt& attempt, const RunConfig& defaults, Communicator& control, Logger& log, const Program& program) {
  all_or_none(control, "reading command line and configuration", [&] {
    if (attempt.failure) std::rethrow_exception(attempt.failure);
  });
  const RunConfig& config = attempt.loaded.config;
  std::vector<Fact> facts = config_facts(config);
  facts.push_back({"verb", std::string(name_of(attempt.line.verb))});
  require_equal(control, "the configuration", facts);
  seed_generators(static_cast<std::uint64_t>(config.run.seed));
  Job job(start_up(attempt.line, std::move(attempt.loaded), defaults, control, log), control, log);
  const ExitStatus status = program(job);
  // Nobody leaves before all have arrived here, and all leave with the same status.
  return static_cast<ExitStatus>(agree_max(control, static_cast<std::int64_t>(status), "exit status"));
}

int run(int argc, char** argv, const RunConfig& defaults, const Program& program) {
  Attempt attempt = try_to_read(argc, argv, defaults);
  if (!attempt.help.empty()) return print_once(attempt.help);
  if (attempt.line.verb == Verb::config && !attempt.failure) return print_configuration(attempt.line, attempt.loaded);

  // Outside the boundary: a communicator that an exception destroys takes the ranks apart instead of ending them in order.
  const std::unique_ptr<Communicator> control = make_communicator(attempt.loaded.config.comm);
  Logger log({.rank = control->rank(), .world_size = control->world_size(), .level = attempt.line.log_level});
  return static_cast<int>(
      with_error_boundary(*control, log, [&] { return run_job(attempt, defaults, *control, log, program); }));
}

}  // namespace

int main(int argc, char** argv, const RunConfig& defaults, const Program& program) {
  try {
    install_cpu_memory();
    return run(argc, argv, defaults, program);
  } catch (const Error& error) {
    return print_lone_error(argv[0], error.what(), error.status());
  } catch (const std::exception& error) {
    return print_lone_error(argv[0], error.what(), ExitStatus::internal);
  }
}

int main(int argc, char** argv, const Program& program) {
  return main(argc, argv, RunConfig{}, program);
}

}  // namespace ddpkit
