// mpirun -np 2 build/benchmarks/hooks
//
// What it costs backward that every gradient is taken up by ddpkit: a model of very many, very small parameters.
#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>
#include <torch/csrc/autograd/variable.h>

#include <vector>

#include "ddpkit/base/text.hpp"
#include "ddpkit/comm/mpi/wrap.hpp"
#include "ddpkit/reduce/grad_reducer.hpp"
#include "harness/main.hpp"
#include "training/torch_facts.hpp"

namespace {

constexpr int kParameters = 400;
constexpr std::int64_t kElements = 64;

std::vector<ddpkit::NamedTensor> make_parameters() {
  std::vector<ddpkit::NamedTensor> parameters;
  for (int i = 0; i < kParameters; ++i)
    parameters.push_back({ddpkit::text("p", i), at::ones({kElements}).requires_grad_(true)});
  return parameters;
}

at::Tensor loss_of(const std::vector<ddpkit::NamedTensor>& parameters) {
  at::Tensor sum = parameters[0].tensor * 2;
  for (std::size_t i = 1; i < parameters.size(); ++i) sum = sum + parameters[i].tensor * 2;
  return sum.sum();
}

// Only backward is timed; `after` ends the window.
bench::Block backward(std::vector<ddpkit::NamedTensor> parameters, std::function<void()> after) {
  return [parameters = std::move(parameters), after = std::move(after)](int iterations) {
    double seconds = 0;
    for (int i = 0; i < iterations; ++i) {
      const at::Tensor loss = loss_of(parameters);
      seconds += bench::seconds_of([&] { loss.backward(); });
      after();
      for (const ddpkit::NamedTensor& parameter : parameters) parameter.tensor.mutable_grad().reset();
    }
    return seconds;
  };
}

void measure(bench::Session& session) {
  const auto comm = ddpkit::wrap_mpi_communicator(session.team.comm());
  const std::vector<ddpkit::NamedTensor> hooked = make_parameters();
  ddpkit::GradReducer reducer(hooked, *comm);
  // Short blocks and many of them: what is wanted is a twentieth of what is measured.
  bench::Rounds rounds(session.team, {.rounds = session.effort == bench::Effort::quick ? 31 : 301, .block_seconds = 0.01});
  rounds.add("plain", backward(make_parameters(), [] {}));
  rounds.add("hooked", backward(hooked, [&] { reducer.finish(); }));
  rounds.run();
  session.report.keep("backward, 400 parameters", rounds.samples());
  const bench::Estimate extra = rounds.compare("hooked", "plain", bench::difference);
  constexpr double kMicrosecondsEach = 1e6 / kParameters;
  session.report.add(
      {.id = "C10",
       .what = "hook, 400 tiny parameters",
       .against = "per gradient, over plain backward",
       .target = bench::at_most(0.5),
       .unit = "us",
       .measured = {{extra.value * kMicrosecondsEach, extra.low * kMicrosecondsEach, extra.high * kMicrosecondsEach}}});
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run(argc, argv, {.name = "hooks", .facts = bench::torch_facts}, measure);
}
