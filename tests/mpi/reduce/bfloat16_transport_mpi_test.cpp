#include "ddpkit/reduce/bfloat16_transport.hpp"

#include <torch/torch.h>

#include "ddpkit/comm/make_communicator.hpp"
#include "ddpkit/reduce/grad_reducer.hpp"
#include "support/catch.hpp"

namespace {

using namespace ddpkit;

torch::Tensor values_of(int rank) {
  return torch::linspace(0.1, 3, 700, torch::kFloat) * (rank + 1) - 1;
}

/// A gradient of each rank's own values, through a reducer with such buckets.
torch::Tensor reduced(Communicator& comm, BucketType type, ReduceCounters& counters) {
  torch::Tensor parameter = torch::zeros({700}, torch::requires_grad());
  GradReducer reducer(std::vector<NamedTensor>{{"w", parameter}}, comm, {.bucket_dtype = type});
  for (int window = 0; window < 2; ++window) {
    parameter.mutable_grad().reset();
    (parameter * values_of(comm.rank())).sum().backward();
    reducer.finish();
  }
  counters = reducer.counters();
  return parameter.grad().clone();
}

torch::Tensor sum_of_rounded(int ranks) {
  torch::Tensor sum = torch::zeros({700});
  for (int rank = 0; rank < ranks; ++rank) sum += values_of(rank).to(torch::kBFloat16).to(torch::kFloat);
  return sum;
}

}  // namespace

TEST_CASE("a bucket that travels as bfloat16 is rounded before it leaves and when it is summed, and no more") {
  const auto comm = make_communicator();
  ReduceCounters counters;
  const torch::Tensor mean = reduced(*comm, BucketType::bfloat16, counters);
  CHECK(mean.scalar_type() == torch::kFloat);
  if (comm->world_size() == 1) {
    CHECK(mean.equal(values_of(0)));  // nothing travels
  } else {
    const torch::Tensor expected = sum_of_rounded(comm->world_size()).to(torch::kBFloat16).to(torch::kFloat);
    CHECK(torch::allclose(mean * comm->world_size(), expected, 1e-6, 1e-7));
  }
}

TEST_CASE("bfloat16 buckets are half as many bytes in as many collectives") {
  const auto comm = make_communicator();
  if (comm->world_size() == 1) return;
  ReduceCounters whole, half;
  reduced(*comm, BucketType::gradient, whole);
  reduced(*comm, BucketType::bfloat16, half);
  CHECK(half.collectives == whole.collectives);
  CHECK(2 * half.bytes == whole.bytes);
}

TEST_CASE("ranks that would send different types are told so") {
  const auto comm = make_communicator();
  if (comm->world_size() == 1) return;
  torch::Tensor parameter = torch::zeros({4}, torch::requires_grad());
  const auto make = [&] {
    const BucketType type = comm->rank() == 0 ? BucketType::gradient : BucketType::bfloat16;
    GradReducer reducer(std::vector<NamedTensor>{{"w", parameter}}, *comm, {.bucket_dtype = type});
  };
  CHECK_THROWS_WITH(make(), Catch::Contains("bucket_dtype"));
}

TEST_CASE("gradients of 16 bits travel as they are") {
  const auto comm = make_communicator();
  torch::Tensor parameter = torch::zeros({8}, torch::dtype(torch::kHalf)).requires_grad_(true);
  GradReducer reducer(std::vector<NamedTensor>{{"w", parameter}}, *comm, {.bucket_dtype = BucketType::bfloat16});
  (parameter.sum() * (1 + comm->rank() / 1024.0)).backward();
  reducer.finish();
  CHECK(parameter.grad().scalar_type() == torch::kHalf);
  CHECK(torch::allclose(parameter.grad().to(torch::kFloat), torch::full({8}, 1 + (comm->world_size() - 1) / 2048.0), 1e-3));
}
