// mpirun -np 2 build/examples/plain_libtorch
// expect: loss after 20 epochs: 0\.000[0-9]
//
// An existing LibTorch program, made data-parallel: the lines marked `// +` are all that was added. It reaches the same loss on
// any number of ranks that divides its batch of 64.
#include <torch/nn.h>
#include <torch/optim/sgd.h>

#include <cstdio>

#include "ddpkit/comm/make_communicator.hpp"  // +
#include "ddpkit/reduce/grad_reducer.hpp"     // +
#include "ddpkit/reduce/parameter_sync.hpp"   // +

namespace nn = torch::nn;

int main() {
  const auto comm = ddpkit::make_communicator();  // +
  torch::manual_seed(1);
  const torch::Tensor inputs = torch::rand({1024, 2}) * 2 - 1;
  const torch::Tensor targets = (inputs.select(1, 0) * inputs.select(1, 1)).unsqueeze(1);

  nn::Sequential model(nn::Linear(2, 32), nn::Tanh(), nn::Linear(32, 1));
  torch::optim::SGD optimizer(model->parameters(), torch::optim::SGDOptions(0.1).momentum(0.9));
  ddpkit::broadcast_tensors(ddpkit::named_tensors(model->named_parameters()), *comm);  // +
  ddpkit::GradReducer reducer(model->named_parameters(), *comm);                       // +

  for (int epoch = 0; epoch < 20; ++epoch) {
    const torch::Tensor order = torch::randperm(inputs.size(0));
    for (torch::Tensor rows : order.split(64)) {
      rows = rows.chunk(comm->world_size())[comm->rank()];  // +
      optimizer.zero_grad();
      torch::mse_loss(model->forward(inputs.index_select(0, rows)), targets.index_select(0, rows)).backward();
      reducer.finish();  // +
      optimizer.step();
    }
  }

  const torch::NoGradGuard no_graph;
  const double loss = torch::mse_loss(model->forward(inputs), targets).item<double>();
  if (comm->rank() == 0)  // +
    std::printf("loss after 20 epochs: %.4f\n", loss);
}
