#include <CLI/CLI.hpp>
#include <ctime>
#include <filesystem>
#include <iostream>
#include <memory>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/placement.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/checkpoint/replace_file.hpp"
#include "program_runs.hpp"
#include "verbs.hpp"
#include "verification.hpp"
#include "verify_documents.hpp"

namespace ddpkit::tool {
namespace {

namespace fs = std::filesystem;

struct VerifyVerb {
  VerifyRequest request;
  std::string ranks;
  std::int64_t time_limit = 600;
  double most_other_work = 10;
  bool json = false;
};

std::string now_utc() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char buffer[64];
  return {buffer, std::strftime(buffer, sizeof buffer, "%Y-%m-%d %H:%M UTC", &parts)};
}

// On CPUs the most ranks come first: the threads that each of them gets are then what fewer ranks get as well, so that the
// ranks and not the cores of each are what differs.
void probe_all(ProgramRuns& runs, const RunConfig& config, Verification& verification) {
  const std::vector<RankedPlan> plans = scaling_plans(config.batch, verification.request.ranks);
  int threads = 0;
  for (auto plan = plans.rbegin(); plan != plans.rend(); ++plan) {
    nlohmann::json document = runs.probe(*plan, threads);
    ProbeFigures figures = read_probe(document);
    figures.other_work = runs.other_work();
    if (threads == 0 && figures.device == "cpu" && config.run.threads == 0) threads = figures.threads();
    verification.probes.insert(verification.probes.begin(), std::move(figures));
    verification.probe_documents.insert(verification.probe_documents.begin(), std::move(document));
  }
}

void train_all(ProgramRuns& runs, const RunConfig& config, Verification& verification) {
  for (const RankedPlan& plan : equivalent_plans(config.batch, verification.request.ranks))
    verification.curves.push_back(read_losses(runs.train(plan) / "metrics.jsonl", plan.ranks, plan.plan));
}

Verification verify(const VerifyRequest& request) {
  ProgramRuns runs(request);
  const RunConfig config = runs.config();
  Verification verification{.request = request, .run_name = config.run.name, .global = config.batch.global};
  try {
    probe_all(runs, config, verification);
    train_all(runs, config, verification);
  } catch (const nlohmann::json::exception& error) {
    throw UsageError(text("the program's documents have another form than expected (", error.what(),
                          "); build it with this version of ddpkit\n  command: ", runs.commands().back()));
  }
  verification.findings = {judge_utilisation(verification.probes, request.most_other_work),
                           judge_scaling(verification.probes, request.most_other_work), judge_memory(verification.probes),
                           judge_convergence(verification.curves, request.steps)};
  verification.commands = runs.commands();
  verification.time = now_utc();
  return verification;
}

void run_verb(const VerifyVerb& verb) {
  VerifyRequest request = verb.request;
  request.time_limit = std::chrono::seconds(verb.time_limit);
  request.most_other_work = verb.most_other_work / 100;
  request.ranks = verb.ranks.empty() ? default_ranks(allowed_cores().size()) : read_ranks(verb.ranks);
  const Verification verification = verify(request);
  const std::string json = verification_json(verification) + "\n";
  const fs::path out(request.out);
  replace_file(out / "verify.json", json);
  replace_file(out / "verify.html", verification_page(verification));
  if (verb.json)
    std::cout << json;
  else
    std::cout << verification_text(verification) << "\n\nreport: " << (out / "verify.html").string() << '\n';
  if (!verification.passed()) throw CLI::RuntimeError(1);
}

}  // namespace

void add_verify_verb(CLI::App& app) {
  const auto verb = std::make_shared<VerifyVerb>();
  CLI::App* command = app.add_subcommand(
      "verify",
      "run a program a few times and judge utilisation, scaling, memory, and whether plans with one global batch agree");
  command->footer("Example: ddpkit verify --config run.yaml --ranks 1,2,4 -- ./program\nEnds with 1 when something is bad.");
  command->add_option("--config", verb->request.config, "YAML run file")->required();
  command->add_option("--ranks", verb->ranks,
                      "numbers of ranks, such as 1,2,4; without it 1, 2, 4 ... as many as there are cores");
  command->add_option("--steps", verb->request.steps, "optimizer steps of each run whose losses are compared")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000000));
  command->add_option("--windows", verb->request.windows, "windows that each probe measures")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000000));
  command->add_option("--out", verb->request.out, "folder for verify.json and verify.html; on several hosts one that all see")
      ->capture_default_str();
  command->add_option("--mpirun", verb->request.launcher, "what starts ranks, before -np N: 'mpirun --oversubscribe'");
  command->add_option("--time-limit", verb->time_limit, "seconds for each run")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000000));
  command
      ->add_option("--other-work", verb->most_other_work,
                   "% of the cores' time that other programs may take before speed is not judged")
      ->capture_default_str()
      ->check(CLI::Range(0, 100));
  command->add_flag("--json", verb->json, "print verify.json on standard output");
  command->add_option("program", verb->request.program, "after --: the program that calls ddpkit::main, and its arguments")
      ->required();
  command->callback([verb] { run_verb(*verb); });
}

}  // namespace ddpkit::tool
