#pragma once

// A small regression problem in float64 whose samples follow from their index, for tests that compare runs.

#include <torch/torch.h>

#include <cstdint>
#include <span>
#include <vector>

#include "ddpkit/data/dataset.hpp"
#include "ddpkit/tensor/batch.hpp"
#include "ddpkit/tensor/loss.hpp"

namespace ddpkit::testing {

constexpr std::int64_t kToyInputs = 5;
constexpr std::int64_t kToyOutputs = 3;

/// "input" float64 [5], "target" float64 [3], "tokens" float64 []: 1, 2 or 3, for losses that are means over tokens.
class ToyDataset final : public Dataset {
 public:
  explicit ToyDataset(std::int64_t samples) : samples_(samples) {}

  std::int64_t size() const override { return samples_; }
  std::span<const FieldSpec> fields() const override { return fields_; }
  void gather(std::span<const std::int64_t> ids, std::span<std::byte* const> out) const override {
    auto* input = reinterpret_cast<double*>(out[0]);
    auto* target = reinterpret_cast<double*>(out[1]);
    auto* tokens = reinterpret_cast<double*>(out[2]);
    for (const std::int64_t id : ids) {
      for (std::int64_t j = 0; j < kToyInputs; ++j) *input++ = std::sin(0.7 * static_cast<double>(id * kToyInputs + j));
      for (std::int64_t j = 0; j < kToyOutputs; ++j) *target++ = std::cos(0.3 * static_cast<double>(id * kToyOutputs + j));
      *tokens++ = static_cast<double>(1 + id % 3);
    }
  }

  /// The rows `ids` as one batch: what a single process would see.
  Batch rows(const std::vector<std::int64_t>& ids) const {
    const auto n = static_cast<std::int64_t>(ids.size());
    torch::Tensor input = torch::empty({n, kToyInputs}, torch::kDouble);
    torch::Tensor target = torch::empty({n, kToyOutputs}, torch::kDouble);
    torch::Tensor tokens = torch::empty({n}, torch::kDouble);
    const std::vector<std::byte*> out{static_cast<std::byte*>(input.data_ptr()), static_cast<std::byte*>(target.data_ptr()),
                                      static_cast<std::byte*>(tokens.data_ptr())};
    gather(ids, out);
    return Batch({{"input", input}, {"target", target}, {"tokens", tokens}});
  }

 private:
  std::int64_t samples_;
  std::vector<FieldSpec> fields_{
      {"input", DType::float64, {kToyInputs}}, {"target", DType::float64, {kToyOutputs}}, {"tokens", DType::float64, {}}};
};

/// A smooth network in float64, the same on every rank for the same seed.
inline torch::nn::Sequential toy_model(std::uint64_t seed = 1) {
  torch::manual_seed(seed);
  torch::nn::Sequential model(torch::nn::Linear(kToyInputs, 8), torch::nn::Tanh(), torch::nn::Linear(8, kToyOutputs));
  model->to(torch::kDouble);
  return model;
}

enum class Weighting { rows, tokens };

/// Mean squared error over rows, or over tokens.
inline Loss toy_loss(torch::nn::Sequential& model, const Batch& batch, Weighting weighting = Weighting::rows) {
  const torch::Tensor per_row = (model->forward(batch.input()) - batch.target()).pow(2).sum(1);
  if (weighting == Weighting::rows) return per_row.mean();
  const torch::Tensor tokens = batch["tokens"];
  return {(per_row * tokens).sum() / tokens.sum(), tokens.sum().item<double>()};
}

/// Largest absolute difference over all parameters.
inline double distance(const torch::nn::Module& a, const torch::nn::Module& b) {
  double largest = 0;
  const auto first = a.parameters();
  const auto second = b.parameters();
  for (std::size_t i = 0; i < first.size(); ++i) largest = std::max(largest, (first[i] - second[i]).abs().max().item<double>());
  return largest;
}

}  // namespace ddpkit::testing
