// mpirun -np 2 build/benchmarks/update
//
// Gradients of all ranks added up and turned into new parameters, from the end of backward on: each rank its share in memory
// that all share, against one process that updates everything by itself while the other ranks do the same.
#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/allclose.h>

#include <vector>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/figures.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/comm/mpi/wrap.hpp"
#include "ddpkit/optim/make_optimizer.hpp"
#include "ddpkit/reduce/grad_reducer.hpp"
#include "harness/main.hpp"
#include "harness/update_traffic.hpp"
#include "training/fused_update.hpp"
#include "training/torch_facts.hpp"
#include "training/variants.hpp"

namespace {

using ddpkit::text;

constexpr int kParameters = 8;
constexpr int kCheckedSteps = 3;
constexpr std::size_t kRider = 32;  // numbers that travel along with the gradients, about as many as a Stepper's ballot has

constexpr char kAlone[] = "one process, fused";
constexpr char kTraffic[] = "the same memory traffic, next to no arithmetic";

const bench::StepCase kAdamW;

/// Parameters of so many bytes together, and gradients that backward makes by copying.
struct Parameters {
  explicit Parameters(std::int64_t bytes) {
    const std::int64_t elements = bytes / static_cast<std::int64_t>(sizeof(float)) / kParameters;
    for (int i = 0; i < kParameters; ++i) {
      named.push_back({text("p", i), at::linspace(-1, 1, elements).requires_grad_(true)});
      slopes.push_back(at::linspace(1, -2, elements));
    }
  }

  void backward() {
    at::Tensor loss;
    for (int i = 0; i < kParameters; ++i) {
      named[i].tensor.mutable_grad().reset();
      const at::Tensor part = (named[i].tensor * slopes[i]).sum();
      loss = i == 0 ? part : loss + part;
    }
    loss.backward();
  }
  std::vector<at::Tensor> tensors() const {
    std::vector<at::Tensor> all;
    for (const ddpkit::NamedTensor& parameter : named) all.push_back(parameter.tensor);
    return all;
  }

  std::vector<ddpkit::NamedTensor> named;
  std::vector<at::Tensor> slopes;
};

class Alone {
 public:
  explicit Alone(std::int64_t bytes) : parameters_(bytes), update_(parameters_.tensors(), kAdamW) {}
  void backward() { parameters_.backward(); }
  void update() {
    std::vector<at::Tensor> gradients;
    for (const at::Tensor& parameter : parameters_.tensors()) gradients.push_back(parameter.grad());
    update_.step(gradients);
  }
  const Parameters& parameters() const { return parameters_; }

 private:
  Parameters parameters_;
  bench::FusedUpdate update_;
};

class Together {
 public:
  Together(std::int64_t bytes, ddpkit::Communicator& comm, ddpkit::UpdatePlacement placement)
      : parameters_(bytes),
        reducer_(parameters_.named, comm, {.overlap = ddpkit::Overlap::off, .deliver = ddpkit::delivery_for(placement)}),
        optimizer_(ddpkit::make_optimizer(reducer_, bench::optimizer_options(kAdamW, placement))) {
    optimizer_->prepare();
  }
  void backward() {
    const auto measuring = reducer_.measure_norm();
    parameters_.backward();
  }
  void update() {
    std::vector<double> rider(kRider);
    const double scale = reducer_.finish_unscaled(rider);
    optimizer_->step({.lr = kAdamW.lr, .grad_scale = scale});
  }
  const Parameters& parameters() const { return parameters_; }

 private:
  Parameters parameters_;
  ddpkit::GradReducer reducer_;
  std::unique_ptr<ddpkit::Optimizer> optimizer_;
};

// Only the update is timed, from the moment when every rank has its gradients.
template <class Way>
bench::Block updates(Way& way, const bench::Team& team) {
  return [&](int iterations) {
    double seconds = 0;
    for (int i = 0; i < iterations; ++i) {
      way.backward();
      team.barrier();
      seconds += bench::seconds_of([&] { way.update(); });
    }
    return seconds;
  };
}

template <class Way>
void check(Way& way, Alone& reference, const char* what) {
  const auto ours = way.parameters().tensors(), theirs = reference.parameters().tensors();
  for (std::size_t i = 0; i < ours.size(); ++i)
    if (!at::allclose(ours[i], theirs[i], 1e-5, 1e-6)) throw ddpkit::DataError(text(what, ": parameter ", i, " is wrong"));
}

template <class Way>
void train(Way& way) {
  for (int i = 0; i < kCheckedSteps; ++i) way.backward(), way.update();
}

void run_size(bench::Session& session, ddpkit::Communicator& comm, std::int64_t bytes, double target) {
  Alone alone(bytes);
  Together replicated(bytes, comm, ddpkit::UpdatePlacement::replicated), sharded(bytes, comm, ddpkit::UpdatePlacement::sharded);
  train(alone), train(replicated), train(sharded);
  check(replicated, alone, "replicated");
  check(sharded, alone, "sharded");
  bench::UpdateTraffic traffic(comm, static_cast<std::size_t>(bytes));
  bench::Rounds rounds = session.rounds(31);
  rounds.add(kAlone, updates(alone, session.team));
  rounds.add("replicated", updates(replicated, session.team));
  rounds.add("sharded", updates(sharded, session.team));
  rounds.add(kTraffic, updates(traffic, session.team));
  rounds.run();
  const std::string title = "reduce + AdamW, " + ddpkit::bytes_figure(static_cast<double>(bytes));
  const double ranks = session.team.size();
  session.report.keep(title, rounds.samples());
  session.report.add({.id = "C5",
                      .what = title,
                      .against = "one process's _fused_adamw_",
                      .target = bench::at_most(target),
                      .measured = rounds.compare("sharded", kAlone, bench::ratio),
                      .note = text("bytes moved: ", ddpkit::figure((ranks + 6) / (7 * ranks)), " of its"),
                      .floor = bench::Floor{rounds.compare(kTraffic, kAlone, bench::ratio).value, kTraffic}});
}

void measure(bench::Session& session) {
  const auto comm = ddpkit::wrap_mpi_communicator(session.team.comm());
  run_size(session, *comm, 1 << 20, 0.80);
  run_size(session, *comm, 4 << 20, 0.42);
  run_size(session, *comm, 16 << 20, 0.60);
  run_size(session, *comm, 64 << 20, 0.62);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run(argc, argv, {.name = "update", .facts = bench::torch_facts}, measure);
}
