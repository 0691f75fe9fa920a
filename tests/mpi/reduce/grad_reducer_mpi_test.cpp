#include "ddpkit/reduce/grad_reducer.hpp"

#include <torch/torch.h>

#include "ddpkit/base/error.hpp"
#include "ddpkit/comm/make_communicator.hpp"
#include "mpi/reduce/two_layers.hpp"
#include "support/catch.hpp"

namespace {

using namespace ddpkit;
using Catch::Matchers::Contains;

}  // namespace

TEST_CASE("after finish every rank holds the mean over ranks") {
  const auto comm = make_communicator();
  for (const Overlap overlap : {Overlap::on, Overlap::off}) {
    TwoLayers model;
    GradReducer reducer(model.named_parameters(), *comm, {.tail_kib = 1, .overlap = overlap});
    (constant_gradient(model.first->weight, comm->rank()) + constant_gradient(model.second->bias, 10.0 * comm->rank()))
        .backward();
    reducer.finish();
    CHECK(all_equal(model.first->weight.grad(), mean_rank(*comm)));
    CHECK(all_equal(model.second->bias.grad(), 10 * mean_rank(*comm)));
  }
}

TEST_CASE("what backward adds up inside no_sync travels once, with the last micro-batch") {
  const auto comm = make_communicator();
  TwoLayers model;
  GradReducer reducer(model.named_parameters(), *comm, kSmallBuckets);
  for (int micro = 0; micro < 4; ++micro) {
    std::optional<Reducer::NoSync> pause;
    if (micro < 3) pause.emplace(reducer.no_sync());
    constant_gradient(model.first->weight, comm->rank() + micro).backward();
    if (micro < 3) CHECK(reducer.counters().collectives == 0);
  }
  reducer.finish();
  CHECK(all_equal(model.first->weight.grad(), 4 * mean_rank(*comm) + 6));
  CHECK(reducer.counters().collectives == (comm->world_size() > 1 ? std::ssize(reducer.plan().buckets) : 0));
}

TEST_CASE("a parameter used in the first micro-batch but not in the last is reduced all the same") {
  const auto comm = make_communicator();
  TwoLayers model;
  GradReducer reducer(model.named_parameters(), *comm, kSmallBuckets);
  {
    const auto pause = reducer.no_sync();
    constant_gradient(model.second->weight, comm->rank() + 1.0).backward();
  }
  constant_gradient(model.first->weight, 1).backward();
  reducer.finish();
  CHECK(all_equal(model.second->weight.grad(), mean_rank(*comm) + 1));
  CHECK(all_equal(model.first->weight.grad(), 1));
}

TEST_CASE("a parameter used twice is counted once per backward") {
  const auto comm = make_communicator();
  TwoLayers model;
  GradReducer reducer(model.named_parameters(), *comm, kSmallBuckets);
  (constant_gradient(model.first->weight, 1) + constant_gradient(model.first->weight, comm->rank())).backward();
  reducer.finish();
  CHECK(all_equal(model.first->weight.grad(), 1 + mean_rank(*comm)));
}

TEST_CASE("weights tied under two names are reduced once") {
  const auto comm = make_communicator();
  torch::nn::Linear shared(3, 3);
  torch::nn::Sequential model;
  model->push_back("encoder", shared);
  model->push_back("decoder", shared);
  GradReducer reducer(model->named_parameters(), *comm);
  constant_gradient(shared->weight, comm->rank()).backward();
  reducer.finish();
  CHECK(all_equal(shared->weight.grad(), mean_rank(*comm)));
}

TEST_CASE("types are mixed freely, and sums of 16-bit gradients do not overflow") {
  const auto comm = make_communicator();
  std::vector<NamedTensor> parameters{{"single", torch::ones({3}, torch::kFloat)},
                                      {"double", torch::ones({3}, torch::kDouble)},
                                      {"brain", torch::ones({3}, torch::kBFloat16)},
                                      {"half", torch::ones({3}, torch::kHalf)}};
  for (auto& [name, tensor] : parameters) tensor.set_requires_grad(true);
  GradReducer reducer(parameters, *comm);
  for (auto& [name, tensor] : parameters) constant_gradient(tensor, 2).backward();  // each has a bucket of its own
  reducer.finish();
  for (auto& [name, tensor] : parameters) CHECK(all_equal(tensor.grad(), 2));
  for (auto& [name, tensor] : parameters) tensor.mutable_grad().reset();
  constant_gradient(parameters[3].tensor, 40000).backward();
  reducer.finish();
  CHECK(all_equal(parameters[3].tensor.grad(), 40000));
}

TEST_CASE("gradients keep the layout of channels_last weights") {
  const auto comm = make_communicator();
  torch::nn::Conv2d conv(torch::nn::Conv2dOptions(3, 4, 3).bias(false));
  conv->weight.set_data(conv->weight.contiguous(torch::MemoryFormat::ChannelsLast));
  GradReducer reducer(conv->named_parameters(), *comm);
  const torch::Tensor pattern = torch::arange(3 * 4 * 9, torch::kFloat).reshape({4, 3, 3, 3});
  (conv->weight * pattern * (comm->rank() + 1)).sum().backward();
  reducer.finish();
  CHECK(conv->weight.grad().strides() == conv->weight.strides());
  CHECK(torch::allclose(conv->weight.grad(), pattern * (mean_rank(*comm) + 1)));
}

TEST_CASE("a sparse gradient is refused by the name of its parameter") {
  const auto comm = make_communicator();
  torch::nn::Embedding embedding(torch::nn::EmbeddingOptions(10, 3).sparse(true));
  GradReducer reducer(embedding->named_parameters(), *comm);
  const torch::Tensor out = embedding->forward(torch::tensor({1, 2}));
  CHECK_THROWS_WITH(out.sum().backward(), Contains("weight") && Contains("sparse"));
}

TEST_CASE("two reducers in one process do not disturb each other") {
  const auto comm = make_communicator();
  TwoLayers generator;
  TwoLayers critic;
  GradReducer first(generator.named_parameters(), *comm, kSmallBuckets);
  GradReducer second(critic.named_parameters(), *comm, kSmallBuckets);
  for (int step = 0; step < 3; ++step) {
    constant_gradient(critic.first->weight, comm->rank()).backward();
    constant_gradient(generator.first->weight, 2.0 * comm->rank()).backward();
    first.finish();
    second.finish();
    CHECK(all_equal(generator.first->weight.grad(), 2 * mean_rank(*comm)));
    CHECK(all_equal(critic.first->weight.grad(), mean_rank(*comm)));
    generator.zero_grad();
    critic.zero_grad();
  }
}

TEST_CASE("two losses make one window when the first backward is inside no_sync") {
  const auto comm = make_communicator();
  TwoLayers model;
  GradReducer reducer(model.named_parameters(), *comm, kSmallBuckets);
  {
    const auto pause = reducer.no_sync();
    constant_gradient(model.first->weight, comm->rank()).backward();
  }
  constant_gradient(model.first->weight, 5).backward();
  reducer.finish();
  CHECK(all_equal(model.first->weight.grad(), mean_rank(*comm) + 5));
}

TEST_CASE("a gradient that comes after its bucket was full is refused by the name of its parameter, overlap on or off") {
  const auto comm = make_communicator();
  const Overlap overlap = GENERATE(Overlap::on, Overlap::off);
  TwoLayers model;
  GradReducer reducer(model.named_parameters(), *comm, {.overlap = overlap});
  const auto all_of_it = [&] {
    torch::Tensor sum = torch::zeros({});
    for (const auto& parameter : model.parameters()) sum = sum + parameter.sum();
    return sum;
  };
  all_of_it().backward();
  CHECK_THROWS_WITH(all_of_it().backward(), Contains("no_sync") && Contains("second.bias"));
  reducer.finish();
}

TEST_CASE("a gradient penalty through autograd::grad counts as one backward") {
  const auto comm = make_communicator();
  torch::Tensor w = torch::full({1}, 3.0, torch::requires_grad());
  GradReducer reducer(std::vector<NamedTensor>{{"w", w}}, *comm);
  const torch::Tensor x = torch::full({1}, comm->rank() + 1.0, torch::requires_grad());
  const torch::Tensor slope = torch::autograd::grad({w.pow(2) * x}, {x}, {}, true, true)[0];  // w^2
  (slope.pow(2) + w * x.detach()).sum().backward();                                           // 4 w^3 + x
  reducer.finish();
  CHECK(all_equal(w.grad(), 4 * 27 + mean_rank(*comm) + 1));
}

TEST_CASE("gradients may be cleared either way between windows, or left to add up") {
  const auto comm = make_communicator();
  TwoLayers model;
  GradReducer reducer(model.named_parameters(), *comm, kSmallBuckets);
  for (int step = 0; step < 4; ++step) {
    constant_gradient(model.first->weight, comm->rank()).backward();
    reducer.finish();
    CHECK(all_equal(model.first->weight.grad(), mean_rank(*comm)));
    model.zero_grad(/*set_to_none=*/step % 2 == 0);
  }
  constant_gradient(model.first->weight, comm->rank()).backward();
  reducer.finish();
  constant_gradient(model.first->weight, comm->rank()).backward();
  reducer.finish();
  CHECK(all_equal(model.first->weight.grad(), 2 * mean_rank(*comm)));
}

TEST_CASE("ranks with different models are told what differs") {
  const auto comm = make_communicator();
  if (comm->world_size() == 1) return;
  torch::nn::Sequential model(torch::nn::Linear(4, comm->rank() == 1 ? 5 : 4));
  CHECK_THROWS_WITH(GradReducer(model->named_parameters(), *comm), Contains("0.weight") && Contains("[5, 4]"));
}

TEST_CASE("a rider comes back summed over the ranks") {
  const auto comm = make_communicator();
  TwoLayers model;
  GradReducer reducer(model.named_parameters(), *comm);
  std::vector<double> rider{1.0, static_cast<double>(comm->rank())};
  constant_gradient(model.first->weight, 1).backward();
  reducer.finish_unscaled(rider);
  CHECK(rider[0] == comm->world_size());
  CHECK(rider[1] == mean_rank(*comm) * comm->world_size());
}

TEST_CASE("a rank that gives up sends zeros, so that its peers come out and learn of it") {
  const auto comm = make_communicator();
  TwoLayers model;
  GradReducer reducer(model.named_parameters(), *comm, kSmallBuckets);
  for (int window = 0; window < 3; ++window) {
    const bool gives_up = comm->rank() == 0 && window == 1;
    std::vector<double> rider{gives_up ? 1.0 : 0.0};
    constant_gradient(model.second->weight, comm->world_size()).backward();
    if (!gives_up) constant_gradient(model.first->weight, comm->world_size()).backward();
    if (gives_up)
      reducer.abandon(rider);
    else
      reducer.finish_unscaled(rider);
    CHECK(rider[0] == (window == 1 ? 1 : 0));
    model.zero_grad();
  }
  constant_gradient(model.first->weight, comm->rank()).backward();
  reducer.finish();
  CHECK(all_equal(model.first->weight.grad(), mean_rank(*comm)));
}

TEST_CASE("a window without any backward on this rank still answers its peers") {
  const auto comm = make_communicator();
  TwoLayers model;
  GradReducer reducer(model.named_parameters(), *comm, kSmallBuckets);
  const bool idle = comm->rank() == comm->world_size() - 1 && comm->world_size() > 1;
  if (!idle) constant_gradient(model.first->weight, comm->world_size()).backward();
  reducer.finish();
  CHECK(all_equal(model.first->weight.grad(), comm->world_size() > 1 ? comm->world_size() - 1 : 1));
}

TEST_CASE("the first reduction starts before the last gradient is ready, unless overlap is off") {
  const auto comm = make_communicator();
  for (const Overlap overlap : {Overlap::on, Overlap::off}) {
    torch::nn::Sequential model(torch::nn::Linear(600, 600), torch::nn::Linear(600, 600), torch::nn::Linear(600, 600));
    GradReducer reducer(model->named_parameters(), *comm, {.bucket_mib = 1, .overlap = overlap});
    model->forward(torch::ones({2, 600})).sum().backward();
    reducer.finish();
    const bool overlaps = overlap == Overlap::on && comm->world_size() > 1;
    CHECK((reducer.counters().early_gradients > 0) == overlaps);
    CHECK((reducer.counters().sent_during_backward > 0) == overlaps);
  }
}

TEST_CASE("hooks go when the reducer goes, and a hook that was there stays") {
  const auto comm = make_communicator();
  TwoLayers model;
  { GradReducer first(model.named_parameters(), *comm); }
  constant_gradient(model.first->weight, comm->rank()).backward();
  CHECK(all_equal(model.first->weight.grad(), comm->rank()));
}

TEST_CASE("gradients left to add up keep what they hold where a parameter is not used again") {
  const auto comm = make_communicator();
  TwoLayers model;
  GradReducer reducer(model.named_parameters(), *comm, kSmallBuckets);
  constant_gradient(model.first->weight, 3).backward();
  reducer.finish();
  if (comm->rank() == 0) constant_gradient(model.first->weight, comm->world_size()).backward();
  reducer.finish();
  CHECK(all_equal(model.first->weight.grad(), 3 + 1));
  reducer.finish();  // a window in which nobody uses it
  CHECK(all_equal(model.first->weight.grad(), 3 + 1));
}

TEST_CASE("a gradient that autograd adds out of place is not counted twice") {
  const auto comm = make_communicator();
  TwoLayers model;
  GradReducer reducer(model.named_parameters(), *comm, kSmallBuckets);
  constant_gradient(model.first->weight, 1).backward();
  reducer.finish();
  {
    const auto pause = reducer.no_sync();
    constant_gradient(model.first->weight, 1).backward();
  }
  constant_gradient(model.first->weight, 1).backward({}, /*keep_graph=*/true, /*create_graph=*/true);
  reducer.finish();
  CHECK(all_equal(model.first->weight.grad(), 3));
}

TEST_CASE("a discarded window leaves nothing behind, and one that has been sent cannot be discarded") {
  const auto comm = make_communicator();
  TwoLayers model;
  GradReducer reducer(model.named_parameters(), *comm, {.overlap = Overlap::on});
  {
    const auto pause = reducer.no_sync();
    constant_gradient(model.first->weight, 100).backward();
  }
  reducer.discard();
  (model.first->weight.sum() + model.first->bias.sum() + model.second->weight.sum() + model.second->bias.sum()).backward();
  if (comm->world_size() > 1) CHECK_THROWS_WITH(reducer.discard(), Contains("on their way"));
  reducer.finish();
  CHECK(all_equal(model.first->weight.grad(), 1));
}

TEST_CASE("what a rank left in its bucket in one window does not come back in the next, where it does not use the parameter") {
  const auto comm = make_communicator();
  TwoLayers model;
  GradReducer reducer(model.named_parameters(), *comm, kSmallBuckets);
  constant_gradient(model.first->weight, 100).backward();
  reducer.finish();
  model.zero_grad();
  if (comm->rank() == 0) constant_gradient(model.first->weight, comm->world_size()).backward();
  reducer.finish();
  CHECK(all_equal(model.first->weight.grad(), 1));
}

TEST_CASE("a rank that is alone moves nothing: gradients stay where backward left them") {
  const auto comm = make_communicator();
  if (comm->world_size() > 1) return;
  TwoLayers model;
  GradReducer reducer(model.named_parameters(), *comm, kSmallBuckets);
  for (int micro = 0; micro < 2; ++micro) {
    std::optional<Reducer::NoSync> pause;
    if (micro == 0) pause.emplace(reducer.no_sync());
    constant_gradient(model.first->weight, 2).backward();
  }
  const void* left_at = model.first->weight.grad().const_data_ptr();
  reducer.finish();
  CHECK(model.first->weight.grad().const_data_ptr() == left_at);
  CHECK(all_equal(model.first->weight.grad(), 4));
  CHECK(reducer.counters().windows == 1);
  CHECK(reducer.counters().collectives == 0);
  CHECK(reducer.counters().bytes == 0);
}

TEST_CASE("a caller may give a gradient other memory: the next window is none the wiser") {
  const auto comm = make_communicator();
  TwoLayers model;
  GradReducer reducer(model.named_parameters(), *comm, kSmallBuckets);
  for (int step = 0; step < 3; ++step) {
    constant_gradient(model.first->weight, comm->rank() + step).backward();
    reducer.finish();
    CHECK(all_equal(model.first->weight.grad(), mean_rank(*comm) + step));
    model.first->weight.mutable_grad().set_data(torch::full({4, 4}, 100.0));
    model.zero_grad();
  }
}
