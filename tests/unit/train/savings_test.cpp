#include "ddpkit/train/savings.hpp"

#include <ATen/ATen.h>

#include <stdexcept>

#include "ddpkit/tensor/autocast.hpp"
#include "ddpkit/tensor/recompute.hpp"
#include "support/catch.hpp"

namespace ddpkit {
namespace {

/// What was in use while a loss was computed and back-propagated.
struct Seen {
  at::ScalarType product = at::kFloat;
  int calls_of_segment = 0;
};

LossFunction watched_loss(Seen& seen) {
  return [&seen](const Batch& batch) -> Loss {
    seen.calls_of_segment = 0;
    const at::Tensor weight = at::ones({4, 4}).requires_grad_();
    const at::Tensor product = recomputed(
        [&seen, weight](const at::Tensor& x) {
          ++seen.calls_of_segment;
          return at::matmul(x, weight);
        },
        batch.input());
    seen.product = product.scalar_type();
    return product.to(at::kFloat).mean();
  };
}

}  // namespace

TEST_CASE("each saving is in use exactly while it is switched on") {
  Savings savings;
  Seen seen;
  const LossFunction loss = with_savings(watched_loss(seen), savings, at::kCPU);
  const Batch batch({{"input", at::ones({2, 4})}});
  const auto train = [&] { loss(batch).mean.backward(); };
  train();
  CHECK(seen.product == at::kFloat);
  CHECK(seen.calls_of_segment == 1);
  savings = {.bf16 = true, .recompute = true};
  train();
  CHECK(seen.product == at::kBFloat16);
  CHECK(seen.calls_of_segment == 2);
  savings = {};
  train();
  CHECK(seen.product == at::kFloat);
  CHECK(seen.calls_of_segment == 1);
}

TEST_CASE("a loss that throws leaves no saving switched on") {
  const Savings savings{.bf16 = true, .recompute = true};
  const LossFunction loss = with_savings([](const Batch&) -> Loss { throw std::runtime_error("broken"); }, savings, at::kCPU);
  CHECK_THROWS(loss(Batch({{"input", at::ones({1})}})));
  CHECK_FALSE(autocast_type(at::kCPU).has_value());
}

TEST_CASE("from the start only those savings are in use that are always wanted") {
  CHECK_FALSE(savings_at_start({.bf16 = Saving::when_full}).bf16);
  CHECK(savings_at_start({.bf16 = Saving::always}).bf16);
  CHECK(savings_at_start({.recompute = Saving::always}).recompute);
  CHECK_FALSE(savings_at_start({}).recompute);
}

}  // namespace ddpkit
