#include "harness/main.hpp"

#include <malloc.h>
#include <mpi.h>
#include <signal.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <string>

#include "ddpkit/base/text.hpp"

namespace bench {
namespace {

constexpr std::chrono::seconds kCompanionLimit{120};
constexpr int kKeptBytes = 1 << 30;
constexpr int kLargestBlock = 32 << 20;  // the heap serves no larger ones itself

struct Options {
  std::string json;
  std::string only;
  std::string python;
  std::string source = DDPKIT_BENCHMARK_SOURCE;
  bool quick = false;
};

void declare(CLI::App& app, Options& options) {
  app.add_option("--json", options.json, "write everything that was measured to this file");
  app.add_option("--only", options.only, "only cases whose names contain this");
  app.add_option("--python", options.python, "a Python that has the full torch package, for rivals in Python");
  app.add_option("--source", options.source, "the folder benchmarks, where the rivals in Python lie");
  app.add_flag("--quick", options.quick, "fewer rounds");
}

// Whether a variant's gradients go back to the kernel after every step, which costs it a third of the step, depends on what
// else lies in the heap: on the other variants. So nothing goes back, for anyone.
void keep_memory() {
  mallopt(M_TRIM_THRESHOLD, kKeptBytes);
  mallopt(M_MMAP_THRESHOLD, kLargestBlock);
  setenv("MALLOC_TRIM_THRESHOLD_", std::to_string(kKeptBytes).c_str(), 1);
  setenv("MALLOC_MMAP_THRESHOLD_", std::to_string(kLargestBlock).c_str(), 1);
}

std::unique_ptr<Companion> start_companion(const Options& options, const Program& program) {
  if (options.python.empty() || program.rival_script.empty()) return nullptr;
  return std::make_unique<Companion>(
      std::vector<std::string>{options.python, options.source + "/rivals/" + program.rival_script}, kCompanionLimit);
}

void measure(const Options& options, const Program& program, Companion* companion, const std::function<void(Session&)>& body) {
  const Team team = program.ranks == Program::Ranks::of_mpirun ? Team::of_ranks() : Team::alone();
  Facts facts = describe_machine();
  if (program.facts != nullptr) std::ranges::move(program.facts(), std::back_inserter(facts));
  Report report(program.name, team.size(), facts);
  Session session{team, report, options.quick ? Effort::quick : Effort::full, options.only, options.python, options.source};
  if (companion == nullptr) {
    session.no_rival_because = "no --python with the full torch package";
  } else if (team.any(!companion->ready())) {
    session.no_rival_because = "the rival in Python did not start";
  } else {
    session.rival = companion;
  }
  body(session);
  if (team.rank() != 0) return;
  report.print();
  if (!options.json.empty()) report.write_json(options.json);
}

void end_all(const char* what) {
  std::fprintf(stderr, "benchmark failed: %s\n", what);
  int started = 0;
  MPI_Initialized(&started);
  if (started != 0) MPI_Abort(MPI_COMM_WORLD, 1);
}

}  // namespace

Rounds Session::rounds(int full_rounds) const {
  return Rounds(
      team, effort == Effort::quick ? RoundsOptions{.rounds = 9, .block_seconds = 0.05} : RoundsOptions{.rounds = full_rounds});
}

int run(int argc, char** argv, const Program& program, const std::function<void(Session&)>& body) {
  Options options;
  CLI::App app(program.name);
  declare(app, options);
  CLI11_PARSE(app, argc, argv);
  signal(SIGPIPE, SIG_IGN);
  keep_memory();
  const std::unique_ptr<Companion> companion = start_companion(options, program);
  try {
    measure(options, program, companion.get(), body);
  } catch (const std::exception& error) {
    end_all(error.what());
    return 1;
  }
  return 0;
}

}  // namespace bench
