#include "ddpkit/tensor/recompute.hpp"

#include <torch/nn.h>

#include <memory>

#include "ddpkit/base/error.hpp"
#include "ddpkit/tensor/autocast.hpp"
#include "ddpkit/tensor/cpu_memory.hpp"
#include "ddpkit/tensor/memory_meter.hpp"
#include "support/catch.hpp"

namespace ddpkit {
namespace {

namespace nn = torch::nn;
using Gradients = std::vector<at::Tensor>;

/// Blocks of two layers with dropout, each a segment; `groups` segments around several of them.
struct Blocks : nn::Module {
  explicit Blocks(std::int64_t count, std::int64_t width = 32) {
    for (std::int64_t i = 0; i < count; ++i)
      blocks.push_back(register_module(
          "block" + std::to_string(i),
          nn::Sequential(nn::Linear(width, width), nn::Tanh(), nn::Dropout(0.3), nn::Linear(width, width), nn::ReLU())));
  }
  at::Tensor forward(at::Tensor x) {
    for (auto& block : blocks) x = recomputed([block](const at::Tensor& in) mutable { return block->forward(in); }, x);
    return x;
  }
  /// All blocks as one segment, which holds those of the blocks.
  at::Tensor forward_nested(const at::Tensor& x) {
    return recomputed([this](const at::Tensor& in) { return forward(in); }, x);
  }
  std::vector<nn::Sequential> blocks;
};

template <class Forward>
Gradients gradients(nn::Module& module, Recompute recompute, const Forward& forward) {
  torch::manual_seed(5);
  module.zero_grad();
  at::Tensor input = at::linspace(-1, 1, 16 * 32).reshape({16, 32}).requires_grad_();
  at::Tensor loss;
  {
    const RecomputeScope scope(recompute);
    loss = forward(input).square().mean();
  }
  loss.backward();
  Gradients result{input.grad(), at::rand({4})};  // what is drawn afterwards must not depend on the second time
  for (const at::Tensor& parameter : module.parameters()) result.push_back(parameter.grad().clone());
  return result;
}

template <class Forward>
void require_equal_gradients(nn::Module& module, const Forward& forward) {
  const Gradients plain = gradients(module, Recompute::off, forward);
  const Gradients again = gradients(module, Recompute::on, forward);
  REQUIRE(plain.size() == again.size());
  for (std::size_t i = 0; i < plain.size(); ++i) CHECK(plain[i].equal(again[i]));
}

}  // namespace

TEST_CASE("a segment that is computed again gives the same gradients to the bit, dropout included") {
  Blocks model(4);
  require_equal_gradients(model, [&](const at::Tensor& x) { return model.forward(x); });
}

TEST_CASE("segments inside a segment give the same gradients to the bit") {
  Blocks model(3);
  require_equal_gradients(model, [&](const at::Tensor& x) { return model.forward_nested(x); });
}

TEST_CASE("a segment under autocast is computed again under the same autocast") {
  Blocks model(3);
  require_equal_gradients(model, [&](const at::Tensor& x) {
    const AutocastScope bf16(at::kCPU, at::kBFloat16);
    return model.forward(x).to(at::kFloat);
  });
}

TEST_CASE("a segment takes several inputs, those without a gradient and those that are undefined too") {
  nn::Linear layer(32, 32);
  require_equal_gradients(*layer, [&](const at::Tensor& x) {
    const at::Tensor scale = at::full({32}, 0.5);
    return recomputed(
        [&layer](const std::vector<at::Tensor>& in) {
          CHECK_FALSE(in[2].defined());
          return at::sigmoid(layer->forward(in[0]) * in[1]) * in[0];
        },
        {x, scale, at::Tensor()});
  });
}

TEST_CASE("a weight that several segments share gets the sum of its gradients") {
  nn::Linear layer(32, 32);
  require_equal_gradients(*layer, [&](at::Tensor x) {
    for (int i = 0; i < 3; ++i) x = recomputed([&layer](const at::Tensor& in) { return at::tanh(layer->forward(in)); }, x);
    return x;
  });
}

TEST_CASE("backward may run twice over a segment whose graph is kept") {
  Blocks model(1);
  const RecomputeScope scope(Recompute::on);
  const at::Tensor loss = model.forward(at::ones({4, 32})).square().mean();
  loss.backward({}, /*retain_graph=*/true);
  const at::Tensor once = model.blocks[0][0]->as<nn::Linear>()->weight.grad().clone();
  loss.backward();
  CHECK(model.blocks[0][0]->as<nn::Linear>()->weight.grad().equal(once + once));
}

TEST_CASE("computing segments again takes less memory") {
  install_cpu_memory();
  const auto meter = make_memory_meter(c10::kCPU);
  Blocks model(12, 64);
  const auto peak = [&](Recompute recompute) {
    meter->reset_peak();
    const std::int64_t before = meter->read().live;
    const RecomputeScope scope(recompute);
    model.forward(at::ones({2048, 64})).mean().backward();
    model.zero_grad();
    return meter->read().peak - before;
  };
  const std::int64_t plain = peak(Recompute::off);
  CHECK(peak(Recompute::on) < plain / 2);
}

TEST_CASE("nothing stays behind after backward, nor where there was none") {
  install_cpu_memory();
  const auto meter = make_memory_meter(c10::kCPU);
  Blocks model(3);
  const RecomputeScope scope(Recompute::on);
  const std::int64_t before = meter->read().live;
  model.forward_nested(at::ones({64, 32})).mean().backward();
  model.forward_nested(at::ones({64, 32}));
  model.zero_grad();
  CHECK(meter->read().live == before);
}

TEST_CASE("out of memory while a segment is computed again comes out of backward, and the next backward is whole") {
  install_cpu_memory();
  Blocks model(3);
  const auto forward = [&](const at::Tensor& x) { return model.forward_nested(x); };
  const Gradients plain = gradients(model, Recompute::off, forward);
  const RecomputeScope scope(Recompute::on);
  const at::Tensor loss = model.forward_nested(at::ones({16, 32})).mean();
  refuse_cpu_memory([](std::size_t bytes) { return recomputing() && bytes > 1000; });
  CHECK_THROWS_AS(loss.backward(), c10::OutOfMemoryError);
  refuse_cpu_memory({});
  CHECK_FALSE(recomputing());
  const Gradients again = gradients(model, Recompute::on, forward);
  for (std::size_t i = 0; i < plain.size(); ++i) CHECK(plain[i].equal(again[i]));
}

TEST_CASE("without a scope, and without a graph, a segment is called once") {
  int calls = 0;
  const auto segment = [&](const at::Tensor& x) {
    ++calls;
    return x.square();
  };
  const at::Tensor input = at::ones({3}).requires_grad_();
  recomputed(segment, input).sum().backward();
  CHECK(calls == 1);
  const RecomputeScope scope(Recompute::on);
  {
    const at::NoGradGuard no_graph;
    recomputed(segment, input);
  }
  CHECK(calls == 2);
  recomputed(segment, input).sum().backward();
  CHECK(calls == 4);
}

TEST_CASE("a layer can tell the second time from the first") {
  std::vector<bool> told;
  const RecomputeScope scope(Recompute::on);
  const at::Tensor input = at::ones({3}).requires_grad_();
  recomputed(
      [&](const at::Tensor& x) {
        told.push_back(recomputing());
        return x.square();
      },
      input)
      .sum()
      .backward();
  CHECK(told == std::vector<bool>{false, true});
}

TEST_CASE("a segment that does something else the second time is refused") {
  const RecomputeScope scope(Recompute::on);
  int calls = 0;
  const at::Tensor input = at::ones({3}).requires_grad_();
  const at::Tensor loss =
      recomputed([&](const at::Tensor& x) { return calls++ == 0 ? x.square() : x.square().exp(); }, input).sum();
  CHECK_THROWS_WITH(loss.backward(), Catch::Contains("1 tensors in the segment the first time and 2 the second"));
}

TEST_CASE("an input that was changed in place after its segment is noticed") {
  const RecomputeScope scope(Recompute::on);
  const at::Tensor input = at::ones({3}).requires_grad_();
  at::Tensor inside = input * 2;
  const at::Tensor loss = recomputed([](const at::Tensor& x) { return x.square(); }, inside).sum();
  inside.add_(1);
  CHECK_THROWS_WITH(loss.backward(), Catch::Contains("modified by an inplace operation"));
}

}  // namespace ddpkit
