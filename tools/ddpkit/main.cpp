// The command `ddpkit`: what needs no model and no LibTorch.
#include <CLI/CLI.hpp>
#include <exception>
#include <iostream>
#include <string>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/base/version.hpp"
#include "verbs.hpp"

namespace {

constexpr const char* kUnwritable = "standard output cannot be written";

int fail(const std::string& message, ddpkit::ExitStatus status) {
  std::cerr << "ddpkit: " << message << '\n';
  return static_cast<int>(status);
}

// Help and version are no errors to us, though CLI11 throws them.
int leave(const CLI::App& app, const CLI::ParseError& request) {
  const int status = app.exit(request, std::cout, std::cerr);
  return status == 0 ? 0 : static_cast<int>(ddpkit::ExitStatus::usage);
}

int run(int argc, char** argv) {
  CLI::App app("ddpkit: data-parallel training on LibTorch", "ddpkit");
  app.set_version_flag("--version", ddpkit::text("ddpkit ", ddpkit::version()));
  ddpkit::tool::add_config_verb(app);
  ddpkit::tool::add_plan_verb(app);
  ddpkit::tool::add_schema_verb(app);
  ddpkit::tool::add_simulate_verb(app);
  ddpkit::tool::add_verify_verb(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::RuntimeError& verdict) {
    return std::cout.flush() ? verdict.get_exit_code() : fail(kUnwritable, ddpkit::ExitStatus::storage);
  } catch (const CLI::ParseError& request) {
    return leave(app, request);
  }
  if (app.get_subcommands().empty()) return fail("no verb given\n\n" + app.help(), ddpkit::ExitStatus::usage);
  std::cout.flush();
  return std::cout ? 0 : fail(kUnwritable, ddpkit::ExitStatus::storage);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const ddpkit::Error& error) {
    return fail(error.what(), error.status());
  } catch (const std::exception& error) {
    return fail(error.what(), ddpkit::ExitStatus::internal);
  }
}
