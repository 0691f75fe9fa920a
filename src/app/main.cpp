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

/// A configuration, or what is wrong with it, which is reported once the ranks have come together.
struct Attempt {
  LoadedConfig loaded;
  std::exception_ptr failure;
};

Attempt try_to_load(const CommandLine& line, const RunConfig& defaults) {
  Attempt attempt;
  try {
    attempt.loaded = load_config({.file = line.config_file, .overrides = line.overrides, .program = defaults});
  } catch (...) {
    attempt.failure = std::current_exception();
  }
  return attempt;
}

ExitStatus run_job(const CommandLine& line, Attempt& attempt, Communicator& control, Logger& log, const Program& program) {
  all_or_none(control, "reading the configuration", [&] {
    if (attempt.failure) std::rethrow_exception(attempt.failure);
  });
  const RunConfig& config = attempt.loaded.config;
  require_equal(control, "the configuration", config_facts(config));
  seed_generators(static_cast<std::uint64_t>(config.run.seed));
  Job job(start_up(line, std::move(attempt.loaded), control, log), control, log);
  const ExitStatus status = program(job);
  control.barrier();  // nobody leaves with a status before all have arrived here
  return status;
}

int run(int argc, char** argv, const RunConfig& defaults, const Program& program) {
  const auto parsed = parse_command_line(argc, argv);
  if (const auto* help = std::get_if<std::string>(&parsed)) return print_once(*help);
  const auto& line = std::get<CommandLine>(parsed);
  Attempt attempt = try_to_load(line, defaults);
  if (line.verb == Verb::config && !attempt.failure) return print_configuration(line, attempt.loaded);

  // Outside the boundary: a communicator that an exception destroys takes the ranks apart instead of ending them in order.
  const std::unique_ptr<Communicator> control = make_communicator(attempt.loaded.config.comm);
  Logger log({.rank = control->rank(), .world_size = control->world_size(), .level = line.log_level});
  return static_cast<int>(with_error_boundary(*control, log, [&] { return run_job(line, attempt, *control, log, program); }));
}

}  // namespace

int main(int argc, char** argv, const RunConfig& defaults, const Program& program) {
  try {
    return run(argc, argv, defaults, program);
  } catch (const Error& error) {
    if (first_rank()) std::cerr << argv[0] << ": " << error.what() << std::endl;
    return static_cast<int>(error.status());
  } catch (const std::exception& error) {
    std::cerr << argv[0] << ": " << error.what() << std::endl;
    return static_cast<int>(ExitStatus::internal);
  }
}

int main(int argc, char** argv, const Program& program) {
  return main(argc, argv, RunConfig{}, program);
}

}  // namespace ddpkit
