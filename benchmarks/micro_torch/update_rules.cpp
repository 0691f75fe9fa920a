// build/benchmarks/micro_torch --benchmark_filter=adamw
//
// An optimizer's pass over parameters of several sizes, in one process and one thread, for those who work on the kernels.
#include <ATen/Functions.h>
#include <ATen/Parallel.h>
#include <benchmark/benchmark.h>
#include <torch/optim/adamw.h>

#include "ddpkit/optim/make_optimizer.hpp"
#include "training/fused_update.hpp"

namespace {

constexpr int kTensors = 8;

std::vector<at::Tensor> parameters_with_gradients(std::int64_t bytes) {
  std::vector<at::Tensor> parameters;
  for (int i = 0; i < kTensors; ++i) {
    parameters.push_back(at::rand({bytes / static_cast<std::int64_t>(sizeof(float)) / kTensors}).requires_grad_(true));
    parameters.back().mutable_grad() = at::rand_like(parameters.back()).detach();
  }
  return parameters;
}

void count(benchmark::State& state) {
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

void torch_adamw(benchmark::State& state) {
  torch::optim::AdamW optimizer(parameters_with_gradients(state.range(0)), torch::optim::AdamWOptions(1e-3));
  for (auto _ : state) optimizer.step();
  count(state);
}

void library_kernel_adamw(benchmark::State& state) {
  const std::vector<at::Tensor> parameters = parameters_with_gradients(state.range(0));
  std::vector<at::Tensor> gradients;
  for (const at::Tensor& parameter : parameters) gradients.push_back(parameter.grad());
  bench::FusedUpdate update(parameters, {});
  for (auto _ : state) update.step(gradients);
  count(state);
}

void ddpkit_adamw(benchmark::State& state) {
  std::vector<ddpkit::NamedTensor> named;
  for (const at::Tensor& parameter : parameters_with_gradients(state.range(0)))
    named.push_back({std::to_string(named.size()), parameter});
  const auto optimizer = ddpkit::make_optimizer(named, {.name = ddpkit::OptimizerKind::adamw});
  for (auto _ : state) optimizer->step({.lr = 1e-3});
  count(state);
}

BENCHMARK(torch_adamw)->RangeMultiplier(8)->Range(1 << 20, 64 << 20)->Unit(benchmark::kMicrosecond);
BENCHMARK(library_kernel_adamw)->RangeMultiplier(8)->Range(1 << 20, 64 << 20)->Unit(benchmark::kMicrosecond);
BENCHMARK(ddpkit_adamw)->RangeMultiplier(8)->Range(1 << 20, 64 << 20)->Unit(benchmark::kMicrosecond);

}  // namespace

int main(int argc, char** argv) {
  at::set_num_threads(1);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
