// mpirun -np 2 build/examples/torch_dataset train --config examples/torch_dataset.yaml
// expect: valid/loss 0\.000[0-9]
//
// A data set and transforms of torch::data, as existing programs have them, with ddpkit's loader in place of LibTorch's.
#include <torch/data/datasets.h>
#include <torch/data/transforms.h>
#include <torch/nn.h>
#include <ddpkit/ddpkit.hpp>

namespace nn = torch::nn;
namespace td = torch::data;

/// Pairs of numbers and their product.
class Products final : public td::datasets::Dataset<Products> {
 public:
  explicit Products(std::int64_t pairs) : factors_(torch::rand({pairs, 2}) * 10) {}

  td::Example<> get(std::size_t index) override {
    const torch::Tensor pair = factors_.select(0, static_cast<std::int64_t>(index));
    return {pair, pair.prod().unsqueeze(0) / 100};
  }
  std::optional<std::size_t> size() const override { return static_cast<std::size_t>(factors_.size(0)); }

 private:
  torch::Tensor factors_;
};

int main(int argc, char** argv) {
  return ddpkit::main(argc, argv, [](ddpkit::Job& job) {
    const td::transforms::TensorLambda<> centred([](const torch::Tensor& pair) { return (pair - 5) / 5; });
    const ddpkit::TorchDataset train(Products(4096).map(centred)), valid(Products(512).map(centred));
    nn::Sequential model(nn::Linear(2, 32), nn::Tanh(), nn::Linear(32, 1));
    auto trainer = job.trainer(model, [&](const ddpkit::Batch& batch) -> ddpkit::Loss {
      return torch::mse_loss(model->forward(batch.input()), batch.target());
    });
    return job.run(trainer, train, valid);
  });
}
