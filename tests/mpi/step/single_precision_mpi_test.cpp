// In float32 rounding is all that ranks may change: one step's gradients agree to 1e-5, and so do curves of smooth models. With
// ReLU rounding alone moves a curve by percents, so nothing is claimed there.
#include <torch/torch.h>

#include "ddpkit/comm/make_communicator.hpp"
#include "ddpkit/optim/make_optimizer.hpp"
#include "ddpkit/reduce/grad_reducer.hpp"
#include "ddpkit/schedule/schedule_plan.hpp"
#include "ddpkit/step/stepper.hpp"
#include "support/catch.hpp"

namespace {

using namespace ddpkit;

constexpr std::int64_t kUnion = 24;  // rows of a window over all ranks

torch::nn::Sequential single_precision_model(bool smooth) {
  torch::manual_seed(3);
  torch::nn::Sequential model(torch::nn::Conv2d(torch::nn::Conv2dOptions(1, 4, 3)));
  if (smooth)
    model->push_back(torch::nn::Tanh());
  else
    model->push_back(torch::nn::ReLU());
  model->push_back(torch::nn::Flatten());
  model->push_back(torch::nn::Linear(4 * 36, 5));
  return model;
}

torch::Tensor inputs(std::int64_t step) {
  return (torch::arange(kUnion * 64, torch::kFloat) * 0.37 + static_cast<double>(step)).sin().reshape({kUnion, 1, 8, 8});
}

torch::Tensor targets() {
  return torch::arange(kUnion) % 5;
}

torch::Tensor loss_of(torch::nn::Sequential& model, const torch::Tensor& x, const torch::Tensor& y) {
  return torch::nn::functional::cross_entropy(model->forward(x), y);
}

torch::Tensor share(const torch::Tensor& whole, const Communicator& comm) {
  const std::int64_t rows = kUnion / comm.world_size();
  return whole.narrow(0, comm.rank() * rows, rows);
}

}  // namespace

TEST_CASE("float32 gradients of one step agree with the union batch to 1e-5") {
  at::set_num_threads(1);
  const auto comm = make_communicator();
  for (const bool smooth : {true, false}) {
    torch::nn::Sequential alone = single_precision_model(smooth);
    loss_of(alone, inputs(0), targets()).backward();
    torch::nn::Sequential model = single_precision_model(smooth);
    GradReducer reducer(model->named_parameters(), *comm);
    loss_of(model, share(inputs(0), *comm), share(targets(), *comm)).backward();
    reducer.finish();
    for (std::size_t i = 0; i < alone->parameters().size(); ++i)
      CHECK(torch::allclose(alone->parameters()[i].grad(), model->parameters()[i].grad(), 1e-5, 1e-6));
  }
}

TEST_CASE("the float32 loss curve of a smooth model agrees with one process to 1e-5 over 50 steps") {
  const auto comm = make_communicator();
  torch::nn::Sequential alone = single_precision_model(true);
  torch::optim::SGD reference(alone->parameters(), torch::optim::SGDOptions(0.05));
  torch::nn::Sequential model = single_precision_model(true);
  const auto parameters = named_tensors(model->named_parameters());
  const auto optimizer = make_optimizer(parameters, {.lr = 0.05});
  const LrSchedule schedule(plan_schedule({}, {.steps = 50, .steps_per_epoch = 50}), 0.05);
  GradReducer reducer(parameters, *comm);
  Stepper stepper(reducer, *optimizer, schedule);
  for (std::int64_t step = 0; step < 50; ++step) {
    reference.zero_grad();
    const torch::Tensor expected = loss_of(alone, inputs(step), targets());
    expected.backward();
    reference.step();
    const std::vector<Batch> batch{
        Batch({{"input", share(inputs(step), *comm).contiguous()}, {"target", share(targets(), *comm).contiguous()}})};
    const StepResult result =
        stepper.run(batch, [&](const Batch& rows) { return loss_of(model, rows.input(), rows.target()); });
    CHECK(result.loss == Approx(expected.item<double>()).epsilon(1e-5));
  }
}
