// A training program on generated data that misbehaves on demand, for tests that look at how a job ends. Settings:
//   user.fault: what goes wrong; user.rank and user.step: where; user.hidden: units of the layer; user.data: memory, or
//   config for the data sets of the run file.
#include <torch/nn.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <ddpkit/ddpkit.hpp>
#include <iostream>
#include <limits>

#include "ddpkit/base/text.hpp"
#include "ddpkit/data/in_memory_dataset.hpp"

namespace {

using namespace ddpkit;
namespace nn = torch::nn;

constexpr std::int64_t kInputs = 4;
constexpr std::int64_t kClasses = 3;

/// Where and how this job misbehaves.
struct Fault {
  std::string kind;
  bool here = false;  ///< on this rank
  std::int64_t step = 0;

  bool is(std::string_view wanted) const { return here && kind == wanted; }
};

InMemoryDataset points(std::int64_t samples, const Fault& fault) {
  HostArray input = make_array("input", DType::float32, {samples, kInputs});
  HostArray target = make_array("target", DType::int64, {samples});
  for (std::int64_t i = 0; i < samples * kInputs; ++i)
    input.values<float>()[static_cast<std::size_t>(i)] = static_cast<float>((i * 37) % 19) / 19.0F;
  for (std::int64_t i = 0; i < samples; ++i) target.values<std::int64_t>()[static_cast<std::size_t>(i)] = i % kClasses;
  if (fault.kind == "label") target.values<std::int64_t>()[static_cast<std::size_t>(samples) - 1] = 7;
  return InMemoryDataset({{input}, {target}});
}

/// Points whose sample 5 cannot be read where the fault says so.
class FailingPoints final : public Dataset {
 public:
  FailingPoints(std::int64_t samples, const Fault& fault) : points_(points(samples, fault)), fault_(fault) {}

  std::int64_t size() const override { return points_.size(); }
  std::span<const FieldSpec> fields() const override { return points_.fields(); }
  void gather(std::span<const std::int64_t> ids, std::span<std::byte* const> out) const override {
    if (fault_.is("read") && std::find(ids.begin(), ids.end(), 5) != ids.end())
      throw DataError("points.bin: sample 5 is cut off");
    points_.gather(ids, out);
  }

 private:
  InMemoryDataset points_;
  Fault fault_;
};

/// Remembers the last step, and sends this process a signal at the step where it shall misbehave.
class Witness final : public Callback {
 public:
  Witness(const Fault& fault, int rank) : fault_(fault), rank_(rank) {}

  Flow on_step_end(const Progress& progress, const StepResult& result) override {
    if (fault_.is("signal") && progress.step == fault_.step) std::raise(SIGUSR1);
    last_step_ = result.step;
    return Flow::go_on;
  }

  void tell_the_end(const Model& model) const {
    double sum = 0;
    for (const NamedTensor& item : model.parameters()) sum += item.tensor.to(torch::kDouble).abs().sum().item<double>();
    const volatile float tiny = std::numeric_limits<float>::min();
    std::cout << ddpkit::text("rank ", rank_, ": last step ", last_step_, ", weights ",
                              std::isfinite(sum) ? "finite " : "not finite ", sum, ", denormal numbers ",
                              tiny / 2 == 0 ? "flushed" : "kept", "\n")
              << std::flush;
  }

 private:
  Fault fault_;
  int rank_;
  std::int64_t last_step_ = -1;
};

}  // namespace

int main(int argc, char** argv) {
  return ddpkit::main(argc, argv, [](Job& job) {
    const auto& user = job.config().user;
    const int rank = job.topology().rank;
    const Fault fault{.kind = user("fault", "none"), .here = rank == user("rank", 1), .step = user("step", 2)};
    const std::int64_t hidden = user("hidden", 8) + (fault.is("model") ? 1 : 0);
    nn::Sequential model(nn::Linear(kInputs, hidden), nn::Tanh(), nn::Linear(hidden, kClasses));
    std::int64_t calls = 0;
    Trainer trainer = job.trainer(model, [&](const Batch& batch) -> Loss {
      const bool now = torch::GradMode::is_enabled() && calls++ == fault.step;
      if (now && fault.is("throw")) throw std::runtime_error("the user's loss is broken");
      const torch::Tensor scores = model->forward(batch.input());
      const torch::Tensor loss = nn::functional::cross_entropy(scores, batch.target().to(torch::kLong));
      if (now && fault.is("nan")) return {loss * std::numeric_limits<float>::quiet_NaN(), std::nullopt, scores};
      return {loss, std::nullopt, scores};
    });
    trainer.add_metric("accuracy", [&](const Batch& batch, const Loss& loss) {
      if (fault.is("signal_in_evaluation") && !torch::GradMode::is_enabled()) std::raise(SIGUSR1);
      return accuracy(batch, loss);
    });
    const auto witness = std::make_shared<Witness>(fault, rank);
    trainer.add_callback(witness);
    ExitStatus status{};
    if (user("data", "memory") == "config") {
      status = job.run(trainer);
    } else {
      const FailingPoints train_set(user("samples", 32), fault);
      const InMemoryDataset valid_set = points(user("valid_samples", 7), {});
      status = job.run(trainer, train_set, valid_set);
    }
    witness->tell_the_end(trainer.model());
    return status;
  });
}
