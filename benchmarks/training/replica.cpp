#include "training/replica.hpp"

#include <ATen/Context.h>
#include <torch/nn.h>

namespace bench {
namespace {

namespace nn = torch::nn;

constexpr std::int64_t kClasses = 10;
constexpr std::uint64_t kSeed = 1;

nn::Sequential make_mlp(std::int64_t width) {
  return nn::Sequential(nn::Flatten(), nn::Linear(784, width), nn::ReLU(), nn::Linear(width, width), nn::ReLU(),
                        nn::Linear(width, width), nn::ReLU(), nn::Linear(width, kClasses));
}

nn::Sequential make_cnn() {
  return nn::Sequential(nn::Conv2d(nn::Conv2dOptions(1, 32, 3).padding(1)), nn::ReLU(), nn::MaxPool2d(2),
                        nn::Conv2d(nn::Conv2dOptions(32, 64, 3).padding(1)), nn::ReLU(), nn::MaxPool2d(2), nn::Flatten(),
                        nn::Linear(64 * 7 * 7, 128), nn::ReLU(), nn::Linear(128, kClasses));
}

}  // namespace

// The one batch is soon learned by heart. Its gradients then become so small that some processors take many times as long over
// them, which says nothing about training.
Replica::Replica(const StepCase& step_case, int rank) {
  at::globalContext().setFlushDenormal(true);
  torch::manual_seed(kSeed);
  model = step_case.net == StepCase::Net::mlp ? make_mlp(step_case.width) : make_cnn();
  parameters = model->parameters();
  torch::manual_seed(kSeed + 1 + static_cast<std::uint64_t>(rank));
  input = torch::randn({step_case.batch, 1, 28, 28});
  target = torch::randint(kClasses, {step_case.batch}, torch::kInt64);
}

at::Tensor Replica::loss_on(const at::Tensor& batch, const at::Tensor& labels) {
  return nn::functional::cross_entropy(model->forward(batch), labels);
}

std::vector<at::Tensor> Replica::gradients() const {
  std::vector<at::Tensor> all;
  for (const at::Tensor& parameter : parameters) all.push_back(parameter.grad());
  return all;
}

}  // namespace bench
