#pragma once

#include <c10/core/Device.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "ddpkit/base/exit_status.hpp"
#include "ddpkit/base/log.hpp"
#include "ddpkit/base/placement.hpp"
#include "ddpkit/comm/communicator.hpp"
#include "ddpkit/config/load_config.hpp"
#include "ddpkit/data/dataset.hpp"
#include "ddpkit/observe/run_folder.hpp"
#include "ddpkit/train/trainer.hpp"
#include "ddpkit/tune/probe.hpp"

namespace ddpkit {

/// What was asked for on the command line.
enum class Verb {
  train,
  evaluate,
  probe,   ///< measure windows of the configured batch
  tune,    ///< find the batch
  config,  ///< print the merged configuration
};

enum class OutputFormat {
  text,
  json,  ///< one document on standard output, and nothing else there
};

constexpr auto enum_names(Verb) {
  return std::to_array<std::pair<Verb, std::string_view>>({{Verb::train, "train"},
                                                           {Verb::evaluate, "evaluate"},
                                                           {Verb::probe, "probe"},
                                                           {Verb::tune, "tune"},
                                                           {Verb::config, "config"}});
}

/// Whether `tune` puts what it found into the run file.
enum class RunFileEdit { leave, write };

/// What the verb `tune` does with its result.
struct TuneOutput {
  std::string dir;  ///< for tune.json and tune.svg; empty: a run folder
  RunFileEdit run_file = RunFileEdit::leave;
};

/// One start of a program on all ranks: its configuration, its communicators, its folder.
class Job {
 public:
  /// What `ddpkit::main` puts together.
  struct Parts {
    Verb verb = Verb::train;
    OutputFormat output = OutputFormat::text;
    LoadedConfig loaded;
    std::unique_ptr<Communicator> data;
    c10::Device device = c10::kCPU;
    RunFolder run_folder;
    std::string resume_from;
    std::vector<Placement> placement;  ///< of all ranks
    ProbeOptions probe;
    TuneOutput tune;
    std::string config_file;  ///< the run file; empty: none
    RunConfig defaults;       ///< of the program
  };
  /// `control` and `log` must outlive the job.
  Job(Parts parts, Communicator& control, Logger& log);

  Verb verb() const noexcept { return parts_.verb; }
  const RunConfig& config() const noexcept { return parts_.loaded.config; }
  const Topology& topology() const noexcept { return control_.topology(); }

  /// For host data: agreement, metrics.
  Communicator& control() noexcept { return control_; }
  /// For gradients, on `device()`.
  Communicator& data() noexcept { return *parts_.data; }

  c10::Device device() const noexcept { return parts_.device; }
  Logger& log() noexcept { return log_; }
  const RunFolder& run_folder() const noexcept { return parts_.run_folder; }

  /// A trainer for a torch::nn::Module or torch::jit::Module and a loss. Loads `run.init_from` where that is set. Collective.
  Trainer trainer(Model model, LossFunction loss);

  /// Does what the verb asks for, with the data sets of the run file. Collective.
  ExitStatus run(Trainer& trainer);

  /// The same with the program's own data sets.
  ExitStatus run(Trainer& trainer, const Dataset& train_set, const Dataset* valid_set = nullptr);
  ExitStatus run(Trainer& trainer, const Dataset& train_set, const Dataset& valid_set) {
    return run(trainer, train_set, &valid_set);
  }

 private:
  ExitStatus train(Trainer& trainer, const Dataset& train_set, const Dataset* valid_set);
  ExitStatus evaluate(Trainer& trainer, const Dataset& valid_set);
  ExitStatus probe(Trainer& trainer, const Dataset& train_set);
  ExitStatus tune(Trainer& trainer, const Dataset& train_set);
  ExitStatus work_on(Trainer& trainer, const Dataset& train_set, const Dataset* valid_set);
  std::unique_ptr<Dataset> open(const SourceOptions& source, const std::string& name);

  Parts parts_;
  Communicator& control_;
  Logger& log_;
};

}  // namespace ddpkit
