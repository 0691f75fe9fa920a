// build/benchmarks/launch --python PYTHON
//
// Whole programs, from mpirun on: how long it takes to the first step, and to the end of a training run, against a bare
// LibTorch program and against PyTorch's DistributedDataParallel. Their output tells that they did what they were asked for.
#include <stdio.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <memory>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"
#include "harness/main.hpp"

namespace {

using ddpkit::text;

constexpr int kLimitSeconds = 300;

/// A folder for what the programs write, gone afterwards.
class Scratch {
 public:
  Scratch() { std::filesystem::create_directories(path_); }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string string() const { return path_.string(); }

 private:
  std::filesystem::path path_ = std::filesystem::temp_directory_path() / text("ddpkit_benchmark_runs_", getpid());
};

std::string build_folder() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path().string();
}

enum class Until { line, end };

/// Starts `command` and returns the seconds until it prints `line`, or until it ends. Throws unless it does both.
double run_program(const std::string& command, const std::string& line, Until until) {
  double seconds = 0;
  bool seen = false;
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  FILE* output = popen(text("timeout -k 5 ", kLimitSeconds, " ", command, " 2>&1 < /dev/null").c_str(), "r");
  if (output == nullptr) throw ddpkit::StorageError("\"" + command + "\" could not be started");
  std::string last;
  for (std::array<char, 4096> buffer{}; fgets(buffer.data(), buffer.size(), output) != nullptr;) {
    last = buffer.data();
    if (!seen && last.find(line) != std::string::npos) seen = true, seconds = elapsed();
  }
  const int status = pclose(output);
  if (status != 0 || !seen)
    throw ddpkit::Error(text("\"", command, "\" ended with status ", status, " and printed no \"", line, "\"; last: ", last));
  return until == Until::line ? seconds : elapsed();
}

bench::Block program(const std::string& command, const std::string& line, Until until) {
  return [=](int runs) {
    double seconds = 0;
    for (int i = 0; i < runs; ++i) seconds += run_program(command, line, until);
    return seconds;
  };
}

/// Like Session::rounds, of blocks that are one run each.
bench::Rounds few_rounds(const bench::Session& session, int rounds) {
  return bench::Rounds(session.team, {.rounds = rounds, .block_seconds = 0});
}

void time_start_up(bench::Session& session, const Scratch& scratch) {
  if (!session.wants("start-up")) return;
  const std::string programs = "mpirun -np 2 " + build_folder() + "/benchmarks/startup_";
  const std::string settings =
      " --set run.steps=1 --set run.threads=1 --set batch.global=128 --set run.dir=" + scratch.string();
  bench::Rounds rounds = few_rounds(session, 15);
  rounds.add("bare LibTorch program", program(programs + "bare", "first step", Until::line));
  rounds.add("ddpkit", program(programs + "with_ddpkit" + settings, "first step", Until::line));
  rounds.run();
  session.report.keep("start-up", rounds.samples());
  session.report.add({.id = "C18",
                      .what = "mpirun to first step, small model",
                      .against = "bare LibTorch program",
                      .target = bench::at_most(1.15),
                      .measured = rounds.compare("ddpkit", "bare LibTorch program", bench::ratio)});
}

bench::Rounds whole_runs(bench::Session& session, const Scratch& scratch) {
  const std::string source = session.source, good = "valid/accuracy 0.8";
  bench::Rounds rounds = few_rounds(session, session.effort == bench::Effort::quick ? 3 : 5);
  rounds.add("ddpkit", program(text("mpirun -np 2 ", build_folder(), "/examples/fashion_mnist train --config ", source,
                                    "/../examples/fashion_mnist.yaml --set run.threads=1 --set run.dir=", scratch.string()),
                               good, Until::end));
  for (const char* gradients : {"default", "views"})
    rounds.add(
        text("DDP on gloo, ", gradients),
        program(text("mpirun -np 2 ", session.python, " ", source, "/rivals/fashion_ddp.py ", gradients), good, Until::end));
  rounds.run();
  session.report.keep("whole run", rounds.samples());
  return rounds;
}

void time_whole_run(bench::Session& session, const Scratch& scratch) {
  if (!session.wants("whole run")) return;
  bench::Row row{
      .id = "C20", .what = "whole run, Fashion-MNIST MLP, 5 epochs", .against = "DDP on gloo", .target = bench::at_most(0.60)};
  if (session.python.empty()) {
    row.note = session.no_rival_because;
  } else {
    const bench::Rounds rounds = whole_runs(session, scratch);
    row.against = rounds.fastest({"DDP on gloo, default", "DDP on gloo, views"});
    row.measured = rounds.compare("ddpkit", row.against, bench::ratio);
  }
  session.report.add(row);
}

void measure(bench::Session& session) {
  const Scratch scratch;
  time_start_up(session, scratch);
  time_whole_run(session, scratch);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run(argc, argv, {.name = "launch", .ranks = bench::Program::Ranks::one_process}, measure);
}
