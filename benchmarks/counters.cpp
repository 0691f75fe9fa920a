// mpirun -np 2 build/benchmarks/counters
//
// What does not depend on the machine: collectives, bytes, allocations.
#include <vector>

#include "counting/allocation_count.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/comm/mpi/wrap.hpp"
#include "ddpkit/optim/make_optimizer.hpp"
#include "ddpkit/optim/sharded_optimizer.hpp"
#include "ddpkit/reduce/grad_reducer.hpp"
#include "harness/main.hpp"
#include "training/torch_facts.hpp"
#include "training/variants.hpp"

namespace {

using bench::StepCase;

constexpr int kAccumulate = 4;
constexpr int kWarmUp = 3;
constexpr int kSteps = 20;

const StepCase kWide{.title = "MLP 1024, batch 16", .batch = 16};
const StepCase kMlp{.title = "MLP 256, batch 16", .width = 256, .batch = 16};

bench::Estimate exact(double value) {
  return {value, value, value};
}

/// Gradient collectives and bytes of windows that have so many micro-batches each.
ddpkit::ReduceCounters counters_of(ddpkit::Communicator& comm, int windows, int micro_batches) {
  bench::Replica replica(kMlp, comm.rank());
  ddpkit::GradReducer reducer(replica.model->named_parameters(), comm);
  for (int window = 0; window < windows; ++window) {
    replica.forget_gradients();
    {
      const auto pause = reducer.no_sync();
      for (int i = 1; i < micro_batches; ++i) replica.loss().backward();
    }
    replica.loss().backward();
    reducer.finish();
  }
  return reducer.counters();
}

void count_accumulation(bench::Session& session, ddpkit::Communicator& comm) {
  const ddpkit::ReduceCounters plain = counters_of(comm, kAccumulate, 1), accumulated = counters_of(comm, 1, kAccumulate);
  const auto add = [&](const char* what, std::int64_t ours, std::int64_t theirs) {
    session.report.add({.id = "C12",
                        .what = ddpkit::text(what, " per sample, accumulate 4"),
                        .against = "no accumulation",
                        .target = bench::exactly(1.0 / kAccumulate),
                        .measured = exact(static_cast<double>(ours) / static_cast<double>(theirs))});
  };
  add("collectives", accumulated.collectives, plain.collectives);
  add("bytes", accumulated.bytes, plain.bytes);
}

// Elements that a rank keeps two moments of, against those of a rank that keeps all.
void compare_state(bench::Session& session, ddpkit::Communicator& comm) {
  bench::Replica replica(kWide, comm.rank());
  double replicated = 0;
  for (const at::Tensor& parameter : replica.parameters) replicated += 2.0 * static_cast<double>(parameter.nbytes());
  ddpkit::GradReducer reducer(replica.model->named_parameters(), comm,
                              {.bucket_mib = 1, .deliver = ddpkit::delivery_for(ddpkit::UpdatePlacement::sharded)});
  ddpkit::ShardedOptimizer optimizer(reducer, bench::optimizer_options(kWide, ddpkit::UpdatePlacement::sharded));
  const double bucket = static_cast<double>(reducer.plan().buckets.front().bytes());
  const double value = session.team.largest(static_cast<double>(optimizer.state_bytes())) / replicated;
  session.report.add({.id = "C13",
                      .what = "bytes of sharded optimizer state, a rank",
                      .against = "replicated",
                      .target = bench::at_most(1.0 / comm.world_size() + bucket / replicated),
                      .measured = exact(value)});
}

template <class Body>
std::int64_t allocations_of(const Body& body) {
  for (int i = 0; i < kWarmUp; ++i) body();
  const std::int64_t before = bench::allocation_count();
  for (int i = 0; i < kSteps; ++i) body();
  return bench::allocation_count() - before;
}

// What LibTorch's forward and backward take by themselves does not count.
void count_allocations(bench::Session& session, bench::Variant& ddpkit, const std::string& what) {
  bench::Replica alone(kMlp, session.team.rank());
  const std::int64_t theirs = allocations_of([&] {
    alone.forget_gradients();
    alone.loss().backward();
  });
  const std::int64_t ours = allocations_of([&] { ddpkit.step(); });
  const double each = static_cast<double>(ours - theirs) / kSteps;
  session.report.add({.id = "C16",
                      .what = "heap allocations of ddpkit per step, " + what,
                      .against = "forward and backward alone",
                      .target = bench::at_most(0),
                      .measured = exact(session.team.largest(each))});
}

void measure(bench::Session& session) {
  const auto comm = ddpkit::wrap_mpi_communicator(session.team.comm());
  count_accumulation(session, *comm);
  compare_state(session, *comm);
  for (const auto& [placement, name] : ddpkit::enum_names(ddpkit::UpdatePlacement{}))
    count_allocations(session, *bench::ddpkit_step(kMlp, *comm, {.placement = placement}), std::string(name));
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run(argc, argv, {.name = "counters", .facts = bench::torch_facts}, measure);
}
