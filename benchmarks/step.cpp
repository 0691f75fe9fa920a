// mpirun -np 2 build/benchmarks/step --python PYTHON
//
// What a training step costs: ddpkit against the same model in one process while the other ranks are as busy, against
// reductions by hand over MPI, and against PyTorch's DistributedDataParallel on gloo. On one rank: what the wrapper costs
// alone.
#include <ATen/ops/allclose.h>

#include <memory>
#include <vector>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/figures.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/comm/mpi/wrap.hpp"
#include "harness/main.hpp"
#include "training/torch_facts.hpp"
#include "training/variants.hpp"

namespace {

using bench::StepCase;
using ddpkit::text;

constexpr int kCheckedSteps = 3;
constexpr char kWithoutUpdate[] = "forward and backward alone";
constexpr char kFused[] = "one process, fused";
constexpr char kChecked[] = "one process, fused, after a look at the gradients";

/// A case and the rows it is there for; a target of 0 means that there is no such row.
struct Plan {
  StepCase step_case;
  std::string id;
  double of_torch = 0;  ///< against torch::optim
  double of_fused = 0;  ///< against the fused optimizer
  std::string ddp_id{};
  double of_ddp = 0;
  bench::Effort least = bench::Effort::full;
};

std::vector<Plan> plans() {
  using Net = StepCase::Net;
  using Rule = StepCase::Rule;
  return {
      {{"MLP 1024, batch 64"}, "C6", 0.65, 1.03, "C8", 0.70, bench::Effort::quick},
      {{.title = "MLP 1024, batch 16", .batch = 16}, "C6b", 0, 1.08, "C8", 0.60},
      {{.title = "MLP 2048, batch 64", .width = 2048}, "C6b", 0, 1.03, "C8", 0.72},
      {{.title = "MLP 256, batch 64", .width = 256}, "C6b", 0, 1.08, "C8", 0.60},
      {{.title = "MLP 1024, batch 64, clipping", .clip_norm = 1}, "C6c", 0, 1.06},
      {{.title = "CNN, batch 32", .net = Net::cnn, .batch = 32, .rule = Rule::sgd}, "C7", 0, 1.04, "C8b", 0.92},
  };
}

using Variants = std::vector<std::pair<std::string, std::unique_ptr<bench::Variant>>>;

/// Everything that trains on all ranks together.
Variants together(const bench::Session& session, ddpkit::Communicator& comm, const StepCase& c) {
  Variants variants;
  variants.emplace_back("ddpkit replicated", bench::ddpkit_step(c, comm));
  if (session.team.size() == 1) return variants;
  variants.emplace_back("ddpkit sharded", bench::ddpkit_step(c, comm, {.placement = ddpkit::UpdatePlacement::sharded}));
  variants.emplace_back("flat MPI_Allreduce", bench::flat_mpi(c, session.team));
  variants.emplace_back("MPI per parameter", bench::per_parameter_mpi(c, session.team));
  return variants;
}

// After a few steps all of them must have the same weights, or the times compare nothing.
void check(Variants& variants) {
  for (auto& [name, variant] : variants)
    for (int i = 0; i < kCheckedSteps; ++i) variant->step();
  const auto& expected = variants.back().second->replica().parameters;
  for (auto& [name, variant] : variants)
    for (std::size_t i = 0; i < expected.size(); ++i)
      if (!at::allclose(variant->replica().parameters[i], expected[i], 1e-4, 1e-5))
        throw ddpkit::DataError(text("\"", name, "\" and \"", variants.back().first, "\" differ in parameter ", i, " after ",
                                     kCheckedSteps, " steps"));
}

void add_rivals_in_python(bench::Rounds& rounds, const bench::Session& session, const StepCase& c) {
  for (const char* view : {"default", "views"})
    rounds.add(text("DDP on gloo, ", view),
               [&session, order = c.rival_name() + ":" + view](int n) { return session.rival->block(order, n); });
}

std::vector<std::string> names_with(const bench::Rounds& rounds, const std::string& beginning) {
  std::vector<std::string> names;
  for (const auto& [name, seconds] : rounds.samples())
    if (name.starts_with(beginning)) names.push_back(name);
  return names;
}

/// What no step can do without: forward, backward and its share of the update, with communication for free; alone, the update
/// after the look that tells whether the gradients are fit for one.
bench::Floor floor_against(const bench::Rounds& rounds, const std::string& rival, int ranks) {
  const double one = rounds.median_of(rival);
  if (ranks == 1) return {rounds.median_of(kChecked) / one, kChecked};
  const double busy = rounds.median_of(kWithoutUpdate), update = rounds.median_of(kFused) - busy;
  return {(busy + update / ranks) / one, text("forward, backward and 1/", ranks, " of the update, nothing else")};
}

void report_ratio(bench::Session& session, const bench::Rounds& rounds, const Plan& plan, const std::string& id,
                  const std::string& rival, double target) {
  const std::string ours = rounds.fastest(names_with(rounds, "ddpkit"));
  session.report.add({.id = id,
                      .what = "step, " + plan.step_case.title,
                      .against = rival,
                      .target = bench::at_most(target),
                      .measured = rounds.compare(ours, rival, bench::ratio),
                      .note = ours,
                      .floor = floor_against(rounds, rival, session.team.size())});
}

void report_against_ddp(bench::Session& session, const bench::Rounds& rounds, const Plan& plan) {
  if (session.rival != nullptr)
    return report_ratio(session, rounds, plan, plan.ddp_id, rounds.fastest(names_with(rounds, "DDP")), plan.of_ddp);
  session.report.add({.id = plan.ddp_id,
                      .what = "step, " + plan.step_case.title,
                      .against = "DDP on gloo",
                      .target = bench::at_most(plan.of_ddp),
                      .note = session.no_rival_because});
}

void run_case(bench::Session& session, ddpkit::Communicator& comm, const Plan& plan) {
  const StepCase& c = plan.step_case;
  Variants variants = together(session, comm, c);
  check(variants);
  variants.emplace_back(kWithoutUpdate, bench::without_update(c, session.team.rank()));
  variants.emplace_back(kFused, bench::fused_alone(c, session.team.rank()));
  if (session.team.size() == 1) variants.emplace_back(kChecked, bench::checked_alone(c, session.team.rank()));
  if (plan.of_torch > 0) variants.emplace_back("one process, torch::optim", bench::torch_alone(c, session.team.rank()));
  bench::Rounds rounds = session.rounds(31);
  for (auto& [name, variant] : variants) rounds.add(name, bench::repeat([&step = *variant] { step.step(); }));
  if (session.rival != nullptr && plan.of_ddp > 0) add_rivals_in_python(rounds, session, c);
  rounds.run();
  session.report.keep(c.title, rounds.samples());
  if (plan.of_torch > 0) report_ratio(session, rounds, plan, plan.id, "one process, torch::optim", plan.of_torch);
  report_ratio(session, rounds, plan, plan.id, kFused, plan.of_fused);
  if (plan.of_ddp > 0) report_against_ddp(session, rounds, plan);
}

void measure(bench::Session& session) {
  const auto comm = ddpkit::wrap_mpi_communicator(session.team.comm());
  if (session.team.size() == 1) return run_case(session, *comm, {{"MLP 1024, batch 64, one rank"}, "C9", 0, 1.01});
  for (const Plan& plan : plans())
    if (plan.least <= session.effort && session.wants(plan.step_case.title)) run_case(session, *comm, plan);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run(argc, argv, {.name = "step", .rival_script = "ddp_gloo.py", .facts = bench::torch_facts}, measure);
}
