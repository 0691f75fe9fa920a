#include "ddpkit/tensor/autocast.hpp"

#include <torch/nn/functional/loss.h>
#include <torch/nn/modules/linear.h>

#include "support/catch.hpp"

namespace ddpkit {

TEST_CASE("inside an autocast scope products are made in its type, and parameters and gradients keep theirs") {
  torch::nn::Linear layer(64, 32);
  const at::Tensor input = at::randn({16, 64});
  at::Tensor output;
  {
    const AutocastScope scope(at::kCPU, at::kBFloat16);
    output = layer->forward(input);
  }
  CHECK(output.scalar_type() == at::kBFloat16);
  output.to(at::kFloat).square().mean().backward();
  CHECK(layer->weight.scalar_type() == at::kFloat);
  CHECK(layer->weight.grad().scalar_type() == at::kFloat);
  CHECK(layer->weight.grad().abs().sum().item<double>() > 0);
}

TEST_CASE("losses inside an autocast scope are computed in float32") {
  const AutocastScope scope(at::kCPU, at::kBFloat16);
  const at::Tensor scores = at::randn({8, 3}).to(at::kBFloat16);
  const at::Tensor loss = torch::nn::functional::cross_entropy(scores, at::zeros({8}, at::kLong));
  CHECK(loss.scalar_type() == at::kFloat);
}

TEST_CASE("autocast scopes nest, and the end of each restores what was") {
  CHECK_FALSE(autocast_type(at::kCPU).has_value());
  {
    const AutocastScope outer(at::kCPU, at::kBFloat16);
    CHECK(autocast_type(at::kCPU) == at::kBFloat16);
    {
      const AutocastScope inner(at::kCPU, std::nullopt);
      CHECK_FALSE(autocast_type(at::kCPU).has_value());
      CHECK(at::matmul(at::ones({2, 2}), at::ones({2, 2})).scalar_type() == at::kFloat);
    }
    CHECK(autocast_type(at::kCPU) == at::kBFloat16);
  }
  CHECK_FALSE(autocast_type(at::kCPU).has_value());
}

TEST_CASE("an autocast scope sees parameters as they are after an update") {
  torch::nn::Linear layer(4, 4);
  const at::Tensor input = at::ones({1, 4});
  const auto forward = [&] {
    const AutocastScope scope(at::kCPU, at::kBFloat16);
    return layer->forward(input).to(at::kFloat);
  };
  forward();
  {
    const at::NoGradGuard no_graph;
    layer->weight.zero_();
    layer->bias.zero_();
  }
  CHECK(forward().abs().sum().item<double>() == 0);
}

}  // namespace ddpkit
