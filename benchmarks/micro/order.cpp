// build/benchmarks/micro --benchmark_filter=order
//
// What it costs to ask where a sample of an epoch stands: nothing is kept, so every position is computed.
#include <benchmark/benchmark.h>

#include "ddpkit/data/make_order.hpp"

namespace {

void order_at(benchmark::State& state) {
  const auto order = ddpkit::make_order(state.range(0), {.seed = 1});
  std::int64_t position = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(order->at(0, position));
    if (++position == state.range(0)) position = 0;
  }
  state.SetItemsProcessed(state.iterations());
}

BENCHMARK(order_at)->Arg(60'000)->Arg(1'281'167)->Arg(1'000'000'000);

}  // namespace
