// mpirun -np 2 build/examples/fashion_mnist train --config examples/fashion_mnist.yaml
//
// The whole of ddpkit in one program: a model, a loss and a run file. `--set user.model=cnn` trains the small CNN.
#include <torch/nn.h>
#include <ddpkit/ddpkit.hpp>

namespace nn = torch::nn;

nn::Sequential make_mlp(std::int64_t hidden) {
  return nn::Sequential(nn::Flatten(), nn::Linear(784, hidden), nn::ReLU(), nn::Linear(hidden, hidden), nn::ReLU(),
                        nn::Linear(hidden, 10));
}

nn::Sequential make_cnn() {
  return nn::Sequential(nn::Conv2d(nn::Conv2dOptions(1, 32, 3).padding(1)), nn::ReLU(), nn::MaxPool2d(2),
                        nn::Conv2d(nn::Conv2dOptions(32, 64, 3).padding(1)), nn::ReLU(), nn::MaxPool2d(2), nn::Flatten(),
                        nn::Linear(64 * 7 * 7, 128), nn::ReLU(), nn::Linear(128, 10));
}

int main(int argc, char** argv) {
  return ddpkit::main(argc, argv, [](ddpkit::Job& job) {
    const auto& user = job.config().user;
    const std::string kind = user("model", "mlp");
    nn::Sequential model = kind == "cnn" ? make_cnn() : make_mlp(user("hidden", 256));
    auto trainer = job.trainer(model, [&](const ddpkit::Batch& batch) -> ddpkit::Loss {
      const torch::Tensor scores = model->forward(batch.input());
      return {nn::functional::cross_entropy(scores, batch.target()), batch.rows(), scores};
    });
    trainer.add_metric("accuracy", ddpkit::accuracy);
    return job.run(trainer);
  });
}
