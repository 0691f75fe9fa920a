#include "workload.hpp"

#include <torch/nn/functional/loss.h>
#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/linear.h>
#include <torch/types.h>
#include <torch/utils.h>

namespace bench {
namespace {

constexpr std::int64_t kClasses = 10;
constexpr std::uint64_t kSeed = 7;

torch::nn::Sequential perceptron(const Shape& shape) {
  torch::nn::Sequential model;
  for (std::int64_t i = 0; i < shape.layers; ++i) {
    model->push_back(torch::nn::Linear(shape.width, shape.width));
    model->push_back(torch::nn::ReLU());
  }
  model->push_back(torch::nn::Linear(shape.width, kClasses));
  return model;
}

ddpkit::Batch samples(const Shape& shape, c10::Device device) {
  return ddpkit::Batch({{"input", torch::randn({shape.rows, shape.width}).to(device)},
                        {"target", torch::randint(kClasses, {shape.rows}, torch::kLong).to(device)}});
}

}  // namespace

Shape launch_bound(const Place& place) {
  if (place.rehearsal()) return {"small perceptron", 8, 2, 4};
  return {"perceptron 16 x 256, batch 64", 256, 16, 64};
}

Shape large(const Place& place) {
  if (place.rehearsal()) return {"other small perceptron", 16, 3, 4};
  return {"perceptron 8 x 4096, batch 4096", 4096, 8, 4096};
}

Workload::Workload(const Shape& shape, const Place& place) : model(nullptr) {
  torch::manual_seed(kSeed);
  model = perceptron(shape);
  model->to(place.device);
  batch = samples(shape, place.device);
}

ddpkit::LossFunction Workload::loss() const {
  return [model = model](const ddpkit::Batch& rows) mutable -> ddpkit::Loss {
    return torch::nn::functional::cross_entropy(model->forward(rows.input()), rows.target());
  };
}

std::vector<ddpkit::NamedTensor> Workload::parameters() const {
  return ddpkit::named_tensors(model->named_parameters());
}

}  // namespace bench
