#include "ddpkit/optim/grad_norm.hpp"

#include <torch/torch.h>

#include <cmath>
#include <limits>
#include <vector>

#include "ddpkit/base/error.hpp"
#include "support/catch.hpp"
#include "unit/optim/toy_parameters.hpp"

using namespace ddpkit;
using namespace ddpkit::testing;

namespace {

std::vector<at::Tensor> random_gradients(at::ScalarType type) {
  torch::manual_seed(5);
  std::vector<at::Tensor> gradients;
  for (const std::int64_t size : {1, 31, 32, 33, 0, 16383, 16384, 16385, 200001})
    gradients.push_back(torch::randn({size}, at::kDouble).to(type));
  return gradients;
}

double norm_in_double(const std::vector<at::Tensor>& gradients) {
  long double sum = 0;
  for (const auto& gradient : gradients) {
    const at::Tensor values = gradient.to(at::kDouble).contiguous();
    for (std::int64_t i = 0; i < values.numel(); ++i) {
      const long double value = values.const_data_ptr<double>()[i];
      sum += value * value;
    }
  }
  return static_cast<double>(std::sqrt(sum));
}

}  // namespace

TEST_CASE("the norm is that of all gradients together, in every floating type") {
  const auto type = GENERATE(at::kFloat, at::kDouble, at::kHalf, at::kBFloat16);
  const auto gradients = random_gradients(type);
  CHECK(global_norm(gradients) == Approx(norm_in_double(gradients)).epsilon(1e-13));
}

TEST_CASE("the norm has the same bits for any number of threads and any packing into buckets") {
  const auto type = GENERATE(at::kFloat, at::kDouble, at::kHalf, at::kBFloat16);
  const auto gradients = random_gradients(type);
  std::vector<at::Tensor> views;
  const at::Tensor flat = torch::cat(gradients);
  std::int64_t offset = 0;
  for (const auto& gradient : gradients) {
    views.push_back(flat.narrow(0, offset, gradient.numel()));
    offset += gradient.numel();
  }
  const int threads = at::get_num_threads();
  const double expected = global_norm(gradients);
  for (const int count : {1, 2, 3}) {
    at::set_num_threads(count);
    CHECK(global_norm(gradients) == expected);
    CHECK(global_norm(views) == expected);
  }
  at::set_num_threads(threads);
}

TEST_CASE("float32 gradients whose squares overflow float32 have a finite norm") {
  CHECK(global_norm(std::vector{torch::full({4}, 1e30F)}) == Approx(2e30));
}

TEST_CASE("one value that is not finite makes the norm not finite") {
  const auto type = GENERATE(at::kFloat, at::kDouble, at::kHalf, at::kBFloat16);
  const double bad = GENERATE(std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
                              std::numeric_limits<double>::quiet_NaN());
  for (const std::int64_t position : {0, 16384, 200000}) {
    auto gradients = random_gradients(type);
    CHECK(all_finite(gradients));
    gradients.back()[position] = bad;
    CHECK_FALSE(all_finite(gradients));
    CHECK_FALSE(std::isfinite(global_norm(gradients)));
  }
}

TEST_CASE("strides, gaps and undefined gradients do not matter to the norm") {
  const at::Tensor whole = torch::randn({4, 3, 5, 5}, at::kDouble);
  const at::Tensor gaps = torch::randn({6, 10}, at::kDouble).slice(1, 2, 7);
  const std::vector<at::Tensor> odd = {whole.contiguous(at::MemoryFormat::ChannelsLast), at::Tensor(), gaps};
  CHECK(global_norm(odd) == Approx(norm_in_double({whole, gaps})).epsilon(1e-14));
  CHECK(global_norm({}) == 0);
}

TEST_CASE("integers have no norm") {
  CHECK_THROWS_AS(global_norm(std::vector{torch::ones({2}, at::kLong)}), UsageError);
}

TEST_CASE("clipping equals torch's clip_grad_norm_") {
  for (const double max_norm : {0.1, 1.0, 1e6}) {
    const auto ours = toy_parameters(at::kDouble), theirs = copies_of(ours);
    set_toy_gradients(ours, 3);
    set_toy_gradients(theirs, 3);
    std::vector<at::Tensor> gradients;
    for (const auto& named : ours) gradients.push_back(named.tensor.grad());
    const double norm = global_norm(gradients);
    CHECK(norm == Approx(torch::nn::utils::clip_grad_norm_(tensors_of(theirs), max_norm)).epsilon(1e-14));
    for (std::size_t i = 0; i < ours.size(); ++i)
      CHECK(torch::allclose(gradients[i] * clip_factor(norm, max_norm), theirs[i].tensor.grad(), 1e-14, 0));
  }
}

TEST_CASE("gradients below the limit are not touched by clipping") {
  CHECK(clip_factor(0, 1) == 1);
  CHECK(clip_factor(0.5, 1) == 1);
  CHECK(clip_factor(4, 1) == Approx(0.25).epsilon(1e-6));
}
