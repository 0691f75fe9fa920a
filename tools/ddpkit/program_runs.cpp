#include "program_runs.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "ddpkit/base/core_time.hpp"
#include "ddpkit/base/error.hpp"
#include "ddpkit/base/figures.hpp"
#include "ddpkit/base/placement.hpp"
#include "ddpkit/base/printable.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/config/load_config.hpp"

namespace ddpkit::tool {
namespace {

using Json = nlohmann::json;
using End = ProcessResult::End;
namespace fs = std::filesystem;

constexpr std::size_t kLastLines = 12;

fs::path make_folder(const fs::path& out) {
  std::error_code error;
  fs::create_directories(out, error);
  std::string pattern = (out / "runs-XXXXXX").string();
  if (error || mkdtemp(pattern.data()) == nullptr)
    throw StorageError(text("cannot make a folder in ", out.string(), ": ", error ? error.message() : std::strerror(errno),
                            "; give another one with --out"));
  return fs::absolute(pattern);
}

std::string last_lines(const std::string& output) {
  std::vector<std::string> lines;
  std::istringstream stream(output);
  for (std::string line; std::getline(stream, line);)
    if (line.find_first_not_of(" \t\r-") != std::string::npos) lines.push_back(printable(line));
  std::string last;
  for (std::size_t i = lines.size() > kLastLines ? lines.size() - kLastLines : 0; i < lines.size(); ++i)
    last += "\n    " + lines[i];
  return last.empty() ? "\n    (it said nothing)" : last;
}

std::string_view meaning_of(int status) {
  switch (static_cast<ExitStatus>(status)) {
    case ExitStatus::usage: return " (wrong command line)";
    case ExitStatus::data: return " (bad data)";
    case ExitStatus::memory: return " (memory used up)";
    case ExitStatus::storage: return " (reading or writing files failed)";
    case ExitStatus::disagree: return " (ranks disagree)";
    case ExitStatus::config: return " (bad configuration)";
    case ExitStatus::diverged: return " (loss or gradient not finite)";
    case ExitStatus::timeout: return " (a collective timed out)";
    default: return "";
  }
}

std::string end_of(const ProcessResult& result) {
  const std::string time = seconds_figure(result.time.count());
  switch (result.end) {
    case End::exited: return text("ended with status ", result.status, meaning_of(result.status), " after ", time);
    case End::signalled: return text("was ended by signal ", result.signal, " (", strsignal(result.signal), ") after ", time);
    case End::timed_out: return text("was not done after ", time);
  }
  return "";
}

ExitStatus status_of(const ProcessResult& result) {
  if (result.end == End::timed_out) return ExitStatus::timeout;
  return meaning_of(result.status).empty() ? ExitStatus::internal : static_cast<ExitStatus>(result.status);
}

std::string failure_text(const std::string& what, const std::string& how, const std::string& command,
                         const ProcessResult& result, const std::string& hint) {
  return text(what, ' ', how, "\n  command: ", command, "\n  its last lines:", last_lines(result.error_tail),
              hint.empty() ? "" : "\n  ", hint);
}

std::optional<Json> one_document(const std::string& output) {
  Json document = Json::parse(output, nullptr, false);
  return document.is_object() ? std::optional(std::move(document)) : std::nullopt;
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::string on_ranks(const RankedPlan& plan) {
  return text("on ", plan.ranks, plan.ranks == 1 ? " rank" : " ranks", ", micro ", grouped(plan.plan.micro), " x accumulate ",
              grouped(plan.plan.accumulate));
}

void report_progress(const std::string& what) {
  std::cerr << "verify: " << what << std::endl;
}

}  // namespace

std::string hint_for_failure(const ProcessResult& result, const std::string& verb) {
  const std::string& said = result.error_tail;
  if (contains(said, "not enough slots"))
    return "more ranks than cores: give --mpirun 'mpirun --oversubscribe', or fewer --ranks";
  if (contains(said, "run as root") || contains(said, "running as root") || contains(said, "ALLOW_RUN_AS_ROOT"))
    return "mpirun does not start programs for root; work as a user, or in a container of your own set "
           "OMPI_ALLOW_RUN_AS_ROOT=1 and "
           "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1";
  if (result.end == End::timed_out) return "give it more time with --time-limit, or less to do with --steps and --windows";
  if (result.status == static_cast<int>(ExitStatus::usage) && contains(said, "not expected"))
    return text("does the program know `", verb,
                "` and --json? It must call ddpkit::main, and be built with this version of ddpkit");
  if (result.status == static_cast<int>(ExitStatus::memory))
    return "lower batch.micro or raise memory.limit: plans on fewer ranks need larger micro-batches unless batch.micro or "
           "batch.max_micro says otherwise";
  if (result.status == static_cast<int>(ExitStatus::config)) return "correct the run file, or the overrides after the program";
  return "run the command by itself to see all that it says";
}

ProgramRuns::ProgramRuns(const VerifyRequest& request)
    : request_(request), folder_(make_folder(request.out)), cores_(allowed_cores()) {}

ProgramRuns::~ProgramRuns() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

// What cores did beyond the work of our own children, mpirun and its ranks, was done for others.
ProcessResult ProgramRuns::run_and_watch(std::vector<std::string> arguments) {
  const std::optional<CoreTime> before = core_time(cores_);
  const double own_before = own_core_seconds();
  ProcessResult result = run_process({.arguments = std::move(arguments), .time_limit = request_.time_limit});
  const std::optional<CoreTime> after = core_time(cores_);
  other_work_ = 0;
  if (before && after && after->total > before->total)
    other_work_ =
        std::max(0.0, (after->busy - before->busy - (own_core_seconds() - own_before)) / (after->total - before->total));
  return result;
}

Json ProgramRuns::document_of(const Run& run, std::vector<std::string> launcher) {
  std::vector<std::string> arguments = std::move(launcher);
  arguments.push_back(request_.program.front());
  arguments.push_back(run.verb);
  arguments.insert(arguments.end(), request_.program.begin() + 1, request_.program.end());
  arguments.insert(arguments.end(), {"--json", "--config", request_.config});
  arguments.insert(arguments.end(), run.options.begin(), run.options.end());
  for (const std::string& value : run.overrides) arguments.insert(arguments.end(), {"--set", value});

  const std::string& command = commands_.emplace_back(command_line(arguments));
  const ProcessResult result = run_and_watch(std::move(arguments));
  if (result.end != End::exited || result.status != 0)
    throw Error(failure_text(run.what, end_of(result), command, result, hint_for_failure(result, run.verb)), status_of(result));
  if (std::optional<Json> document = one_document(result.output)) return *std::move(document);
  const std::string output = result.output.empty() ? "nothing" : text("'", printable(result.output.substr(0, 80)), "'");
  throw UsageError(failure_text(run.what, text("printed ", output, " where --json promises one document"), command, result,
                                "the program must call ddpkit::main, and print nothing else on standard output"));
}

// One launch that costs little and finds a missing program, a program of another kind and a bad run file before any long one.
RunConfig ProgramRuns::config() {
  report_progress("reading the configuration");
  const Json document = document_of({.what = "the program's verb config", .verb = "config"}, {});
  if (!document.contains("config"))
    throw UsageError(
        text(request_.program.front(), " is no program that calls ddpkit::main: its verb config printed another document"));
  const fs::path file = folder_ / "config.yaml";
  std::ofstream(file) << document.at("config").dump(2) << '\n';
  config_ = load_config({.file = file.string()}).config;
  return config_;
}

std::vector<std::string> ProgramRuns::batch_overrides(const BatchPlan& plan) const {
  std::vector<std::string> overrides{text("batch.global=", plan.global), text("batch.micro=", plan.micro),
                                     text("batch.accumulate=", plan.accumulate), "run.dir=" + folder_.string(), "run.resume="};
  if (!config_.batch.schedule.empty()) overrides.emplace_back("batch.schedule=[]");
  if (config_.batch.growth.by != GrowthBy::none) overrides.emplace_back("batch.growth.by=none");
  if (config_.batch.shrink.oscillations != 0) overrides.emplace_back("batch.shrink.oscillations=0");
  return overrides;
}

Json ProgramRuns::probe(const RankedPlan& plan, int threads) {
  report_progress("probe " + on_ranks(plan));
  Run run{.what = "the probe " + on_ranks(plan), .verb = "probe"};
  run.options = {"--repeat", std::to_string(request_.windows)};
  run.overrides = batch_overrides(plan.plan);
  if (threads > 0) run.overrides.push_back(text("run.threads=", threads));
  return document_of(run, launch_arguments(request_, plan.ranks, cores_.size()));
}

fs::path ProgramRuns::train(const RankedPlan& plan) {
  report_progress(text(grouped(request_.steps), " steps ", on_ranks(plan)));
  Run run{.what = "the run " + on_ranks(plan), .verb = "train"};
  run.overrides = batch_overrides(plan.plan);
  for (const std::string& value :
       {text("run.steps=", request_.steps), std::string("metrics.every=1"), std::string("metrics.progress=off"),
        std::string("metrics.jsonl=true"), std::string("metrics.tensorboard=false"), std::string("checkpoint.every=0 steps"),
        std::string("checkpoint.best=false"), std::string("train.evaluate_every=0 steps"), std::string("train.patience=0")})
    run.overrides.push_back(value);
  const Json document = document_of(run, launch_arguments(request_, plan.ranks, cores_.size()));
  return document.at("run_folder").get<std::string>();
}

}  // namespace ddpkit::tool
