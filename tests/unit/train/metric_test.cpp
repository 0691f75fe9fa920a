#include "ddpkit/train/metric.hpp"

#include <torch/types.h>

#include "ddpkit/base/error.hpp"
#include "support/catch.hpp"

namespace ddpkit {

namespace {

Batch batch_of(const torch::Tensor& target) {
  return Batch({{"target", target}});
}

const torch::Tensor kScores = torch::tensor({{0.1, 0.9, 0.0}, {0.8, 0.1, 0.1}, {0.0, 0.2, 0.8}});

Loss with_output(const torch::Tensor& output) {
  return {torch::zeros({}), std::nullopt, output};
}

}  // namespace

TEST_CASE("accuracy counts rows whose largest output stands at the target's class") {
  for (const torch::Dtype type : {torch::kLong, torch::kInt, torch::kByte}) {
    const Ratio ratio = accuracy(batch_of(torch::tensor({1, 0, 1}, type)), with_output(kScores));
    CHECK(ratio.numerator == 2);
    CHECK(ratio.denominator == 3);
  }
}

TEST_CASE("accuracy refuses what it cannot count, and says what it needs") {
  const Batch batch = batch_of(torch::tensor({1, 0, 2}));
  CHECK_THROWS_WITH(accuracy(batch, torch::zeros({})), Catch::Contains("return {mean, count, output}"));
  const auto needs = Catch::Contains("[rows, classes]");
  CHECK_THROWS_WITH(accuracy(batch, with_output(kScores.flatten())), needs);
  CHECK_THROWS_WITH(accuracy(batch_of(torch::tensor({1, 0})), with_output(kScores)), needs);
  CHECK_THROWS_WITH(accuracy(batch_of(torch::tensor({{1}, {0}, {2}})), with_output(kScores)), needs);
  CHECK_THROWS_WITH(accuracy(batch_of(torch::tensor({1.0, 0.0, 2.0})), with_output(kScores)), needs);
}

}  // namespace ddpkit
