#include "ddpkit/tune/probe.hpp"

#include "ddpkit/batch/batch_plan.hpp"
#include "ddpkit/comm/agree.hpp"
#include "tune/trial_windows.hpp"

namespace ddpkit {
namespace {

BatchPlan configured_plan(const TrainerContext& context) {
  BatchPlan plan;
  Communicator& ranks = context.channels.control;
  all_or_none(ranks, "batch", [&] { plan = solve_batch(context.config.batch, ranks.world_size()); });
  return plan;
}

}  // namespace

ProbeReport probe(const Trainer& trainer, const Dataset& train_set, const ProbeOptions& options) {
  const TrainerContext& context = trainer.context();
  const Topology& topology = context.channels.control.topology();
  const BatchPlan plan = configured_plan(context);
  ProbeReport report{.world_size = topology.world_size,
                     .nodes = topology.node_count,
                     .device = context.device.is_cpu() ? "cpu" : "cuda",
                     .memory_target = context.config.memory.target,
                     .summary = {.plan = plan}};
  TrialWindows trial(trainer, train_set, plan, options.profile_file.empty() ? Recording::none : Recording::profile);
  std::vector<WindowOutcome> windows;
  for (std::int64_t i = -context.config.tune.warmup; i < options.windows; ++i) {
    WindowOutcome window = trial.run();
    if (window.end == WindowOutcome::End::out_of_memory) {
      report.out_of_memory = window.account;
      return report;
    }
    if (window.end == WindowOutcome::End::not_finite) ++report.not_finite;
    if (i >= 0) windows.push_back(std::move(window));
  }
  report.summary = summarise(plan, windows);
  report.step_profile = trial.profile();
  return report;
}

}  // namespace ddpkit
