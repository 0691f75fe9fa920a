// mpirun -np 2 build/examples/custom_dataset train --config examples/custom_dataset.yaml
// expect: valid/accuracy (1|0\.99[0-9]*)
//
// An own data set: two spirals whose points are computed when they are asked for. No file, no array, any size.
#include <torch/nn.h>
#include <ddpkit/ddpkit.hpp>

#include <array>
#include <cmath>
#include <cstring>
#include <numbers>

namespace nn = torch::nn;

class Spirals final : public ddpkit::Dataset {
 public:
  Spirals(std::int64_t points, std::uint64_t seed) : points_(points), seed_(seed) {}

  std::int64_t size() const override { return points_; }
  std::string origin() const override { return "spirals"; }

  /// What a sample is: a point in the plane and the number of its spiral.
  std::span<const ddpkit::FieldSpec> fields() const override { return fields_; }

  /// The loader's threads call this at the same time. It depends on nothing but the ids, so every rank, and every epoch, finds
  /// the same point under an id.
  void gather(std::span<const std::int64_t> ids, std::span<std::byte* const> out) const override {
    for (std::size_t row = 0; row < ids.size(); ++row) {
      const std::int64_t spiral = ids[row] % 2;
      const std::array<float, 2> point = point_on(spiral, ddpkit::random_key({seed_, static_cast<std::uint64_t>(ids[row])}));
      std::memcpy(out[0] + row * sizeof point, point.data(), sizeof point);
      std::memcpy(out[1] + row * sizeof spiral, &spiral, sizeof spiral);
    }
  }

 private:
  static std::array<float, 2> point_on(std::int64_t spiral, std::uint64_t key) {
    const double along = ddpkit::CounterRandom(key).uniform();
    const double angle = 2 * std::numbers::pi * along + std::numbers::pi * static_cast<double>(spiral);
    const double radius = 0.2 + along;
    return {static_cast<float>(radius * std::cos(angle)), static_cast<float>(radius * std::sin(angle))};
  }

  std::int64_t points_;
  std::uint64_t seed_;
  std::vector<ddpkit::FieldSpec> fields_{{"input", ddpkit::DType::float32, {2}}, {"target", ddpkit::DType::int64, {}}};
};

int main(int argc, char** argv) {
  return ddpkit::main(argc, argv, [](ddpkit::Job& job) {
    const Spirals train(job.config().user("points", 4000), /*seed=*/1), valid(1000, /*seed=*/2);
    nn::Sequential model(nn::Linear(2, 64), nn::Tanh(), nn::Linear(64, 64), nn::Tanh(), nn::Linear(64, 2));
    auto trainer = job.trainer(model, [&](const ddpkit::Batch& batch) -> ddpkit::Loss {
      const torch::Tensor scores = model->forward(batch.input());
      return {nn::functional::cross_entropy(scores, batch.target()), batch.rows(), scores};
    });
    trainer.add_metric("accuracy", ddpkit::accuracy);
    return job.run(trainer, train, valid);
  });
}
