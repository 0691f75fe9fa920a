#include "loops.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include "ddpkit/optim/make_optimizer.hpp"

namespace bench {
namespace {

constexpr double kRate = 1e-3;
const ddpkit::OptimizerOptions kAdamW{.name = ddpkit::OptimizerKind::adamw, .weight_decay = 1e-2};

}  // namespace

BareLoop::BareLoop(Workload workload) : workload_(std::move(workload)), loss_(workload_.loss()) {
  for (const ddpkit::NamedTensor& parameter : workload_.parameters()) {
    parameters_.push_back(parameter.tensor);
    first_moments_.push_back(at::zeros_like(parameter.tensor));
    second_moments_.push_back(at::zeros_like(parameter.tensor));
    updates_.push_back(at::zeros({}, parameter.tensor.options().requires_grad(false)));
  }
}

void BareLoop::step() {
  for (const at::Tensor& parameter : parameters_) parameter.mutable_grad().reset();
  loss_(workload_.batch).mean.backward();
  update();
}

void BareLoop::update() {
  const at::NoGradGuard no_graph;
  std::vector<at::Tensor> gradients;
  for (const at::Tensor& parameter : parameters_) gradients.push_back(parameter.grad());
  at::_foreach_add_(updates_, 1);
  at::_fused_adamw_(parameters_, gradients, first_moments_, second_moments_, {}, updates_, kRate, kAdamW.beta1, kAdamW.beta2,
                    kAdamW.weight_decay, kAdamW.eps, /*amsgrad=*/false, /*maximize=*/false);
}

DdpkitLoop::DdpkitLoop(Workload workload, ddpkit::Channels channels, const Settings& settings)
    : workload_(std::move(workload)),
      loss_(workload_.loss()),
      schedule_(ddpkit::make_schedule({}, kRate, {})),
      optimizer_(ddpkit::make_optimizer(workload_.parameters(), kAdamW)),
      reducer_(workload_.parameters(), channels, settings.reducer),
      stepper_(reducer_, *optimizer_, schedule_, settings.stepper) {
  stepper_.set_device(workload_.batch.input().device());
}

}  // namespace bench
