#include <torch/torch.h>

#include "ddpkit/base/error.hpp"
#include "ddpkit/comm/make_communicator.hpp"
#include "ddpkit/reduce/grad_reducer.hpp"
#include "mpi/reduce/two_layers.hpp"
#include "support/catch.hpp"

namespace {

using namespace ddpkit;
using Catch::Matchers::Contains;

}  // namespace

TEST_CASE("a parameter that only some ranks use gets zeros from the others, one that none uses stays undefined") {
  const auto comm = make_communicator();
  TwoLayers model;
  GradReducer reducer(model.named_parameters(), *comm, kSmallBuckets);
  torch::Tensor loss = constant_gradient(model.first->weight, 1);
  if (comm->rank() == 0) loss = loss + constant_gradient(model.second->weight, comm->world_size());
  loss.backward();
  reducer.finish();
  CHECK(all_equal(model.second->weight.grad(), 1));
  CHECK_FALSE(model.second->bias.grad().defined());
  CHECK(reducer.unused() == std::vector<std::string>{"first.bias", "second.bias"});
}

TEST_CASE("where unused parameters are an error, all ranks get it with the names") {
  const auto comm = make_communicator();
  TwoLayers model;
  GradReducer reducer(model.named_parameters(), *comm, {.unused = Unused::error});
  constant_gradient(model.first->weight, 1).backward();
  CHECK_THROWS_WITH(reducer.finish(), Contains("second.weight") && Contains("first.bias"));
}

TEST_CASE("a parameter replaced after construction shows up as unused") {
  const auto comm = make_communicator();
  TwoLayers model;
  GradReducer reducer(model.named_parameters(), *comm, {.unused = Unused::error});
  model.first->weight = torch::ones({4, 4}, torch::requires_grad());
  (constant_gradient(model.first->weight, 1) + constant_gradient(model.first->bias, 1) +
   constant_gradient(model.second->weight, 1) + constant_gradient(model.second->bias, 1))
      .backward();
  CHECK_THROWS_WITH(reducer.finish(), Contains("first.weight") && Contains("replaced"));
}

TEST_CASE("a frozen parameter costs nothing, and is reduced from the step at which it is unfrozen") {
  const auto comm = make_communicator();
  TwoLayers model;
  model.second->weight.set_requires_grad(false);
  GradReducer reducer(model.named_parameters(), *comm, kSmallBuckets);
  const auto planned = reducer.plan();
  for (int step = 0; step < 5; ++step) {
    if (step == 3) model.second->weight.set_requires_grad(true);
    torch::Tensor loss = constant_gradient(model.first->weight, comm->rank());
    if (step >= 3) loss = loss + constant_gradient(model.second->weight, comm->rank() + 2.0);
    loss.backward();
    reducer.finish();
    CHECK(all_equal(model.first->weight.grad(), mean_rank(*comm)));
    if (step >= 3) CHECK(all_equal(model.second->weight.grad(), mean_rank(*comm) + 2));
    model.zero_grad();
  }
  CHECK_FALSE(reducer.plan() == planned);
}

TEST_CASE("a parameter frozen later is left out of the next plan") {
  const auto comm = make_communicator();
  TwoLayers model;
  GradReducer reducer(model.named_parameters(), *comm);
  model.second->weight.set_requires_grad(false);
  for (int step = 0; step < 2; ++step) {
    constant_gradient(model.first->weight, comm->rank()).backward();
    reducer.finish();
    CHECK(all_equal(model.first->weight.grad(), mean_rank(*comm)));
    CHECK_FALSE(model.second->weight.grad().defined());
    model.zero_grad();
  }
  CHECK(reducer.plan().buckets[0].slots.size() == 3);
}

TEST_CASE("ranks that unfreeze different parameters are told so, all of them") {
  const auto comm = make_communicator();
  if (comm->world_size() == 1) return;
  TwoLayers model;
  model.second->weight.set_requires_grad(false);
  GradReducer reducer(model.named_parameters(), *comm);
  if (comm->rank() == 1) model.second->weight.set_requires_grad(true);
  constant_gradient(model.first->weight, 1).backward();
  CHECK_THROWS_WITH(reducer.finish(), Contains("second.weight"));
}
