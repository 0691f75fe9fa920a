// mpirun -np 2 build/examples/hand_written_loop
// expect: step 320: loss 0\.00[0-9]
//
// The training loop by hand: the pieces that the Trainer is made of, without a Trainer and without a run file. A step is 64
// samples on any number of ranks, which put 16 at a time through the model and add up their gradients.
#include <torch/nn.h>
#include <ddpkit/ddpkit.hpp>

#include <cstdio>

namespace nn = torch::nn;

constexpr int kEpochs = 20;

ddpkit::InMemoryDataset make_data() {
  const torch::Tensor x = torch::rand({1024, 1}) * 2 - 1;
  return ddpkit::tensor_dataset({{"input", x}, {"target", torch::sin(3 * x)}});
}

int main() {
  const auto comm = ddpkit::make_communicator();
  torch::manual_seed(1);  // the same data on all ranks
  const ddpkit::InMemoryDataset data = make_data();

  nn::Sequential model(nn::Linear(1, 32), nn::Tanh(), nn::Linear(32, 32), nn::Tanh(), nn::Linear(32, 1));
  const std::vector<ddpkit::NamedTensor> parameters = ddpkit::named_tensors(model->named_parameters());
  ddpkit::broadcast_tensors(parameters, *comm);

  // What makes a window: 64 samples in a new order each epoch, of which this rank takes its share.
  const auto order = ddpkit::make_order(data.size(), {.seed = 1});
  ddpkit::Loader loader(data, *order,
                        {.sampler = {.global = 64, .rank = comm->rank(), .world_size = comm->world_size()}, .micro = 16});

  // What makes a step out of it.
  const ddpkit::RunLength run{.steps = kEpochs * loader.windows_per_epoch(), .steps_per_epoch = loader.windows_per_epoch()};
  const ddpkit::LrSchedule schedule = ddpkit::make_schedule(
      {.warmup = {5, ddpkit::Extent::Unit::percent}, .decay = ddpkit::Decay::cosine}, /*base_lr=*/0.01, run);
  const auto optimizer = ddpkit::make_optimizer(parameters, {.name = ddpkit::OptimizerKind::adamw, .weight_decay = 1e-4});
  ddpkit::GradReducer reducer(parameters, *comm);
  ddpkit::Stepper stepper(reducer, *optimizer, schedule, {.clip_norm = 1});

  const auto loss = [&](const ddpkit::Batch& batch) -> ddpkit::Loss {
    return torch::mse_loss(model->forward(batch.input()), batch.target());
  };
  for (int epoch = 0; epoch < kEpochs; ++epoch) {
    ddpkit::StepResult result;
    for (ddpkit::Window& window : loader) result = stepper.run(window, loss);
    if (comm->rank() == 0)
      std::printf("step %d: loss %.4f, gradient norm %.3f, rate %.5f\n", static_cast<int>(result.step + 1), result.loss,
                  result.grad_norm, result.lr);
  }
}
