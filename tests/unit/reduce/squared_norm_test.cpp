#include "reduce/squared_norm.hpp"

#include <torch/torch.h>

#include "support/catch.hpp"

namespace ddpkit::testing {

TEST_CASE("a squared norm is the sum of squares, whatever the type and the order of dimensions") {
  torch::manual_seed(1);
  for (const auto type : {torch::kFloat, torch::kDouble, torch::kBFloat16, torch::kHalf}) {
    const torch::Tensor values = torch::randn({3, 5, 7, 11}).to(type).contiguous(torch::MemoryFormat::ChannelsLast);
    const double exact = values.to(torch::kDouble).pow(2).sum().item<double>();
    CHECK(squared_norm(values).host == Approx(exact).epsilon(1e-5));
  }
}

TEST_CASE("copying with measure copies every element and counts each once") {
  torch::manual_seed(2);
  for (const std::int64_t count : {0, 1, 15, 16, 17, 2047, 2048, 2049, 100003}) {
    const torch::Tensor from = torch::randn({count});
    const torch::Tensor to = torch::full({count}, 7.0f);
    const double exact = from.to(torch::kDouble).pow(2).sum().item<double>();
    CHECK(copy_measured(to, from) == Approx(exact).epsilon(1e-5));
    CHECK(torch::equal(to, from));
  }
}

}  // namespace ddpkit::testing
