#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "ddpkit/base/process.hpp"
#include "ddpkit/batch/verify_plans.hpp"
#include "ddpkit/config/run_config.hpp"
#include "verify_request.hpp"

namespace ddpkit::tool {

/// Starts the program that is verified, again and again. Its runs leave nothing behind: what they write lies in a folder that
/// is gone when this object is. A run that fails is an error that tells its command, its last lines and what to change; it
/// carries the run's exit status where that is one of ours.
class ProgramRuns {
 public:
  /// Makes the folder for reports where it does not exist, and one for the runs in it: on several hosts it must be seen by all.
  explicit ProgramRuns(const VerifyRequest& request);
  ~ProgramRuns();
  ProgramRuns(const ProgramRuns&) = delete;
  ProgramRuns& operator=(const ProgramRuns&) = delete;

  /// What the program makes of the run file with its own defaults.
  RunConfig config();

  /// The document of a probe. Threads: of each rank; 0: as the run says.
  nlohmann::json probe(const RankedPlan& plan, int threads);

  /// The folder of a finished short run.
  std::filesystem::path train(const RankedPlan& plan);

  /// Of the time of the cores here, the part that other programs took during the last run; 0 where that is not known.
  double other_work() const noexcept { return other_work_; }

  /// The command lines so far, for people who want to see for themselves.
  const std::vector<std::string>& commands() const noexcept { return commands_; }

 private:
  struct Run {
    std::string what;  ///< "the probe on 2 ranks"
    std::string verb;
    std::vector<std::string> options{};
    std::vector<std::string> overrides{};
  };

  ProcessResult run_and_watch(std::vector<std::string> arguments);
  nlohmann::json document_of(const Run& run, std::vector<std::string> launcher);
  std::vector<std::string> batch_overrides(const BatchPlan& plan) const;

  const VerifyRequest& request_;
  std::filesystem::path folder_;
  std::vector<int> cores_;
  RunConfig config_;
  std::vector<std::string> commands_;
  double other_work_ = 0;
};

/// What to change after a run has failed, judged by its status and what it said; empty where nobody knows. Pure.
std::string hint_for_failure(const ProcessResult& result, const std::string& verb);

}  // namespace ddpkit::tool
