// G2, G3: one update of many parameters, against the memory's speed and against LibTorch's own loop.
#include <ATen/ops/empty_like.h>
#include <torch/optim/adamw.h>
#include <torch/types.h>

#include "ddpkit/optim/make_optimizer.hpp"
#include "session.hpp"

namespace bench {
namespace {

constexpr std::int64_t kTensors = 300;
constexpr std::int64_t kParameters = 350'000'000;
constexpr double kBytesPerParameter = 28;  // reads parameter, gradient and two moments, writes all but the gradient
constexpr double kUpdateRate = 1e-3;

std::vector<at::Tensor> with_gradients(const Place& place) {
  const std::int64_t each = place.rehearsal() ? 10 : kParameters / kTensors;
  std::vector<at::Tensor> parameters;
  for (std::int64_t i = 0; i < kTensors; ++i) {
    const auto options = at::dtype(at::kFloat).device(place.device);
    parameters.push_back(torch::randn({each}, options).requires_grad_(true));
    parameters.back().mutable_grad() = torch::randn({each}, options);
  }
  return parameters;
}

std::vector<ddpkit::NamedTensor> named(const std::vector<at::Tensor>& tensors) {
  std::vector<ddpkit::NamedTensor> all;
  for (const at::Tensor& tensor : tensors) all.push_back({std::to_string(all.size()), tensor});
  return all;
}

/// As long as an update would take if it were nothing but its traffic at the speed of a copy.
Estimate share_of_floor(const Turns& turns, double copied_bytes, double update_bytes) {
  std::vector<double> floor;
  for (const double seconds : turns.seconds("copy")) floor.push_back(seconds * update_bytes / copied_bytes);
  return estimate(turns.seconds("ddpkit"), floor, speed_up);
}

}  // namespace

void measure_optimizer(const Session& session) {
  const std::vector<at::Tensor> mine = with_gradients(session.place);
  const std::vector<at::Tensor> theirs = with_gradients(session.place);
  const auto fused = ddpkit::make_optimizer(named(mine), {.name = ddpkit::OptimizerKind::adamw, .weight_decay = 1e-2});
  torch::optim::AdamW plain(theirs, torch::optim::AdamWOptions(kUpdateRate));
  const at::Tensor from =
      torch::ones({session.place.rehearsal() ? 64 : 1 << 28}, at::dtype(at::kFloat).device(session.place.device));
  const at::Tensor to = at::empty_like(from);

  Turns turns(session.place, 10, 11);
  turns.add("copy", [&] { to.copy_(from); });
  turns.add("ddpkit", [&] { fused->step({.lr = kUpdateRate}); });
  turns.add("torch::optim::AdamW", [&] { plain.step(); });
  turns.run();
  session.report.keep("AdamW of 350 M", turns.samples());
  const auto elements = static_cast<double>(mine.size()) * static_cast<double>(mine.front().numel());
  session.add({.id = "G2",
               .what = "AdamW, 350 M float32 in 300 tensors, with the norm",
               .against = "28 bytes each at a copy's speed",
               .target = at_least(0.80),
               .measured = share_of_floor(turns, 2.0 * static_cast<double>(from.nbytes()), kBytesPerParameter * elements)});
  session.add({.id = "G3",
               .what = "the same",
               .against = "torch::optim::AdamW",
               .target = at_least(3),
               .measured = turns.compare("ddpkit", "torch::optim::AdamW", speed_up)});
}

}  // namespace bench
