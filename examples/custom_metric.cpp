// mpirun -np 2 build/examples/custom_metric train --config examples/custom_metric.yaml
// expect: training stopped early at step [0-9]+
//
// An own metric, and an own callback that ends training on all ranks once the metric has reached a target.
#include <torch/nn.h>
#include <ddpkit/ddpkit.hpp>

#include <numbers>

namespace nn = torch::nn;

/// Share of rows whose class is among the three largest outputs. What it returns is summed over micro-batches and ranks before
/// the division, so every row counts the same.
ddpkit::Ratio top3(const ddpkit::Batch& batch, const ddpkit::Loss& loss) {
  const torch::Tensor best = std::get<1>(loss.output.topk(3, /*dim=*/1));
  const torch::Tensor hits = best.eq(batch.target().unsqueeze(1)).sum();
  return {hits.item<double>(), static_cast<double>(batch.rows())};
}

class StopAtTarget final : public ddpkit::Callback {
 public:
  StopAtTarget(std::string metric, double target) : metric_(std::move(metric)), target_(target) {}

  ddpkit::Flow on_evaluation(const ddpkit::Progress&, const ddpkit::Tally& metrics) override {
    return metrics.value(metric_) >= target_ ? ddpkit::Flow::stop : ddpkit::Flow::go_on;
  }

 private:
  std::string metric_;
  double target_;
};

/// Ten clouds of points that overlap.
ddpkit::InMemoryDataset make_clouds(std::int64_t points) {
  const torch::Tensor target = torch::arange(points).remainder(10);
  const torch::Tensor angle = target * (2 * std::numbers::pi / 10);
  const torch::Tensor input = torch::stack({angle.cos(), angle.sin()}, 1) + 0.3 * torch::randn({points, 2});
  return ddpkit::tensor_dataset({{"input", input}, {"target", target}});
}

int main(int argc, char** argv) {
  return ddpkit::main(argc, argv, [](ddpkit::Job& job) {
    const ddpkit::InMemoryDataset train = make_clouds(4000), valid = make_clouds(1000);
    nn::Sequential model(nn::Linear(2, 64), nn::Tanh(), nn::Linear(64, 10));
    auto trainer = job.trainer(model, [&](const ddpkit::Batch& batch) -> ddpkit::Loss {
      const torch::Tensor scores = model->forward(batch.input());
      return {nn::functional::cross_entropy(scores, batch.target()), batch.rows(), scores};
    });
    trainer.add_metric("top3", top3);
    trainer.add_callback(std::make_shared<StopAtTarget>("top3", job.config().user("target", 0.985)));
    return job.run(trainer, train, valid);
  });
}
