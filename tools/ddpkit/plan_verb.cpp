#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <string>

#include "ddpkit/base/figures.hpp"
#include "ddpkit/base/text.hpp"
#include "plan_request.hpp"
#include "read_option.hpp"
#include "target_view.hpp"
#include "verbs.hpp"

namespace ddpkit::tool {
namespace {

struct PlanVerb {
  PlanArguments arguments;
  TargetArguments target;
  bool json = false;
  bool all = false;

  void run() const {
    PlanRequest request = make_request(arguments);
    if (target.wanted()) return show_target(request);
    if (all) request.most = 0;
    const PlanList list = list_plans(request);
    if (json)
      std::cout << to_json(list) << '\n';
    else
      print(list);
    if (list.legal.empty()) throw ConfigError(list.reason + (list.nearest.empty() ? "" : "; take one of the nearest plans"));
  }

 private:
  void show_target(const PlanRequest& request) const {
    if (!request.profile) throw UsageError("--critical-batch needs the step times of a --profile");
    show_targets(*request.profile, arguments.query.global, target, json ? TargetOutput::json : TargetOutput::text);
  }

  static void print(const PlanList& list) {
    if (!list.legal.empty()) {
      std::cout << plan_table(list.legal).str() << "\n\n" << list.reason << '\n';
      const std::int64_t left = list.total - static_cast<std::int64_t>(list.legal.size());
      if (left > 0) std::cout << grouped(left) << (left == 1 ? " more plan" : " more plans") << " with --all\n";
    }
    if (list.nearest.empty()) return;
    std::cout << (list.legal.empty() ? "nearest plans:\n" : "\nnear this, with larger micro-batches:\n")
              << plan_table(list.nearest).str() << '\n';
  }
};

void add_batch_options(CLI::App& command, PlanQuery& query) {
  add_option(command, "--global", query.global, "samples in one optimizer step, over all ranks");
  add_option(command, "--micro", query.micro, "samples one rank puts through one forward and backward");
  add_option(command, "--max-micro", query.max_micro, "largest micro-batch, such as what fits into memory");
  add_option(command, "--accumulate", query.accumulate, "micro-batches per rank in one step");
  add_option(command, "--world", query.world, "number of ranks");
}

void add_run_options(CLI::App& command, PlanArguments& arguments) {
  add_option(command, "--dataset", arguments.dataset, "samples of an epoch; else data.train of the run file is read for it");
  add_option(command, "--tail", arguments.tail, "samples that do not fill the last step of an epoch: drop, pad or partial");
  add_option(command, "--epochs", arguments.epochs, "length of the run");
  add_option(command, "--lr", arguments.lr, "learning rate before scaling");
  add_option(command, "--scaling", arguments.scaling, "how it follows the global batch: none, linear or sqrt");
  add_option(command, "--reference-batch", arguments.reference_batch, "global batch for which --lr is right (256)");
  add_option(command, "--warmup", arguments.warmup, "as in run files: 5%, \"500 steps\" or \"5 epochs\"");
}

void add_target_options(CLI::App& command, TargetArguments& target) {
  add_option(command, "--critical-batch", target.critical_batch,
             "time to target instead: batch from which on more samples buy little, as metrics.noise_scale measures it");
  add_option(command, "--critical-low", target.critical_low, "lower end of its band");
  add_option(command, "--critical-high", target.critical_high, "upper end of its band");
  add_option(command, "--target-steps", target.target_steps, "steps to the target at --global, for times in seconds");
  command.add_option("--svg", target.svg, "writes time and cost as a picture")->type_name("FILE");
}

}  // namespace

void add_plan_verb(CLI::App& app) {
  const auto verb = std::make_shared<PlanVerb>();
  CLI::App* command = app.add_subcommand("plan", "list the ways to make a global batch, best first");
  add_batch_options(*command, verb->arguments.query);
  add_run_options(*command, verb->arguments);
  command->add_option("--profile", verb->arguments.profile, "tune.json of the model: predicts memory and time")
      ->type_name("FILE");
  add_option(*command, "--memory-limit", verb->arguments.memory_limit, "memory of one rank, such as 2GiB; with --profile");
  add_target_options(*command, verb->target);
  command->add_option("--config", verb->arguments.config, "run file for what is not given here")->type_name("FILE");
  command->add_flag("--all", verb->all, "list every legal plan");
  command->add_flag("--json", verb->json, "print one JSON document");
  command->callback([verb] { verb->run(); });
}

}  // namespace ddpkit::tool
