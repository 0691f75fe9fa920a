// One step of a small model with LibTorch and MPI alone: what start-up costs without ddpkit.
#include <mpi.h>
#include <torch/nn.h>
#include <torch/optim/sgd.h>

#include <cstdio>

#include "startup/small_model.hpp"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  at::set_num_threads(1);
  torch::manual_seed(1);
  torch::nn::Sequential model = bench::small_model();
  torch::optim::SGD optimizer(model->parameters(), torch::optim::SGDOptions(0.1));
  bench::small_loss(model, torch::randn({64, 784}), torch::randint(10, {64}, torch::kInt64)).backward();
  for (const at::Tensor& parameter : model->parameters())
    MPI_Allreduce(MPI_IN_PLACE, parameter.grad().data_ptr<float>(), static_cast<int>(parameter.numel()), MPI_FLOAT, MPI_SUM,
                  MPI_COMM_WORLD);
  optimizer.step();
  if (rank == 0) std::printf("first step\n");
  MPI_Finalize();
}
