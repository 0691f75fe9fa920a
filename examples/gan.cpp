// mpirun -np 2 build/examples/gan
// expect: real points: mean 3\.0, deviation 0\.5; generated: mean (2\.9|3\.[01]), deviation 0\.[456]
//
// Two models, two optimizers, two reducers: a generative adversarial network that learns to draw from a normal distribution.
// Each model is its own window: all of its backwards, then `finish`, then its optimizer.
#include <torch/nn.h>
#include <ddpkit/ddpkit.hpp>

#include <cstdio>

namespace nn = torch::nn;

constexpr std::int64_t kBatch = 256;  // over all ranks

/// A network with what trains it.
struct Player {
  Player(ddpkit::Communicator& comm, double rate) : learning_rate(rate), reducer(parameters, comm) {
    ddpkit::broadcast_tensors(parameters, comm);
  }

  /// Ends the window: means over all ranks, one update.
  void update() {
    reducer.finish();
    optimizer->step({.lr = learning_rate});
    optimizer->zero_grad();
  }

  torch::Tensor operator()(const torch::Tensor& input) { return network->forward(input); }

  double learning_rate;
  nn::Sequential network{nn::Linear(1, 32), nn::Tanh(), nn::Linear(32, 1)};
  std::vector<ddpkit::NamedTensor> parameters = ddpkit::named_tensors(network->named_parameters());
  ddpkit::GradReducer reducer;
  std::unique_ptr<ddpkit::Optimizer> optimizer =
      ddpkit::make_optimizer(parameters, {.name = ddpkit::OptimizerKind::adam, .beta1 = 0.5});
};

torch::Tensor draw_real(std::int64_t count) {
  return 3 + 0.5 * torch::randn({count, 1});
}
torch::Tensor draw_noise(std::int64_t count) {
  return torch::randn({count, 1});
}

/// How far the critic's scores are from calling all points real, and from calling none real.
torch::Tensor loss_as_real(const torch::Tensor& scores) {
  return torch::softplus(-scores).mean();
}
torch::Tensor loss_as_generated(const torch::Tensor& scores) {
  return torch::softplus(scores).mean();
}

int main() {
  const auto comm = ddpkit::make_communicator();
  torch::manual_seed(1);  // all ranks draw the same batch, and each takes its share
  const auto share = [&](const torch::Tensor& batch) { return batch.chunk(comm->world_size())[comm->rank()]; };
  Player generator(*comm, 0.002), critic(*comm, 0.02);

  for (int step = 0; step < 400; ++step) {
    const torch::Tensor real = share(draw_real(kBatch));
    const torch::Tensor generated = generator(share(draw_noise(kBatch)));

    // The critic's window: two backwards, of which only the last may send gradients. `detach` keeps the generator out of it.
    {
      const auto pause = critic.reducer.no_sync();
      loss_as_real(critic(real)).backward();
    }
    loss_as_generated(critic(generated.detach())).backward();
    critic.update();

    // The generator's window: its gradient passes through the critic, whose own parameters are no `inputs` of this backward.
    loss_as_real(critic(generated)).backward({}, std::nullopt, false, generator.network->parameters());
    generator.update();
  }

  const torch::NoGradGuard no_graph;
  const torch::Tensor points = generator(draw_noise(10000));
  if (comm->rank() == 0)
    std::printf("real points: mean 3.0, deviation 0.5; generated: mean %.1f, deviation %.1f\n", points.mean().item<double>(),
                points.std().item<double>());
}
