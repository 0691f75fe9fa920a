// The same step of the same model as a ddpkit program: run file, run folder, data set, loader, checks among the ranks.
#include <torch/nn.h>
#include <ddpkit/ddpkit.hpp>

#include <cstdio>

#include "startup/small_model.hpp"

class TellFirstStep final : public ddpkit::Callback {
 public:
  explicit TellFirstStep(int rank) : rank_(rank) {}
  ddpkit::Flow on_step_end(const ddpkit::Progress& progress, const ddpkit::StepResult&) override {
    if (rank_ == 0 && progress.step == 1) std::printf("first step\n"), std::fflush(stdout);
    return ddpkit::Flow::go_on;
  }

 private:
  int rank_;
};

int main(int argc, char** argv) {
  return ddpkit::main(argc, argv, [](ddpkit::Job& job) {
    torch::nn::Sequential model = bench::small_model();
    const ddpkit::InMemoryDataset data =
        ddpkit::tensor_dataset({{"input", torch::randn({256, 784})}, {"target", torch::randint(10, {256}, torch::kInt64)}});
    auto trainer = job.trainer(model, [&](const ddpkit::Batch& batch) -> ddpkit::Loss {
      return bench::small_loss(model, batch.input(), batch.target());
    });
    trainer.add_callback(std::make_shared<TellFirstStep>(job.control().rank()));
    return job.run(trainer, data);
  });
}
