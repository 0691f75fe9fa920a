#include "ddpkit/observe/open_metrics.hpp"

#include <filesystem>
#include <set>
#include <string>

#include "support/captured_stderr.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace ddpkit;
using ddpkit::testing::CapturedStderr;
using ddpkit::testing::TemporaryFolder;

namespace {

// The kinds of files that one record leaves in a fresh folder.
std::set<std::string> files_after_a_record(const MetricOptions& options, int rank) {
  const TemporaryFolder folder;
  const CapturedStderr captured;
  Logger logger({.rank = rank, .world_size = 2});
  const auto hub = open_metrics(options, {.rank = rank, .total_steps = 10, .folder = RunFolder(folder.path())}, logger);
  hub->write({});
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    names.insert(entry.path().filename().string().substr(0, 10));
  if (captured.text().find("train: step 0/10") != std::string::npos) names.insert("a line");
  return names;
}

}  // namespace

TEST_CASE("without a run folder there are no files") {
  const TemporaryFolder folder;
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  Logger logger({});
  open_metrics({.progress = ProgressDisplay::off}, {}, logger)->write({});
  std::filesystem::current_path(before);
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("rank 0 opens the sinks that are asked for, the other ranks none") {
  const MetricOptions all{.progress = ProgressDisplay::lines};
  CHECK(files_after_a_record(all, 0) == std::set<std::string>{"metrics.js", "events.out", "a line"});
  CHECK(files_after_a_record(all, 1).empty());
  CHECK(files_after_a_record({.progress = ProgressDisplay::off, .tensorboard = false}, 0) ==
        std::set<std::string>{"metrics.js"});
  CHECK(files_after_a_record({.progress = ProgressDisplay::off, .jsonl = false}, 0) == std::set<std::string>{"events.out"});
}
