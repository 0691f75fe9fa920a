// What needs a communicator that adds in a fixed order or that fails on demand. Everything else is in
// grad_reducer_mpi_test.cpp.
#include "ddpkit/reduce/grad_reducer.hpp"

#include <torch/nn.h>
#include <torch/torch.h>

#include <mutex>
#include <tuple>

#include "ddpkit/base/error.hpp"
#include "ddpkit/testing/faulty.hpp"
#include "ddpkit/testing/logged_communicator.hpp"
#include "ddpkit/testing/thread_world.hpp"
#include "support/catch.hpp"

namespace {

using namespace ddpkit;
using Catch::Matchers::Contains;

/// Weights and inputs follow from indices: ranks are threads here, so nobody may draw from the process's generator.
struct Wide : torch::nn::Module {
  Wide() {
    torch::NoGradGuard no_graph;
    first = register_parameter("first", torch::arange(40 * 50, torch::kFloat).sin().reshape({40, 50}));
    second = register_parameter("second", torch::arange(50 * 60, torch::kFloat).cos().reshape({50, 60}));
    third = register_parameter("third", torch::arange(60 * 7, torch::kFloat).sin().reshape({60, 7}));
  }
  torch::Tensor loss(int rank, int micro) {
    const torch::Tensor x = (torch::arange(3 * 40, torch::kFloat) * (1 + rank) + micro).sin().reshape({3, 40});
    return x.mm(first).tanh().mm(second).tanh().mm(third).pow(2).mean();
  }
  torch::Tensor first, second, third;
};

std::vector<torch::Tensor> gradients_of(Communicator& comm, const ReducerOptions& options, int micro_batches = 1) {
  Wide model;
  GradReducer reducer(model.named_parameters(), comm, options);
  for (int micro = 0; micro < micro_batches; ++micro) {
    std::optional<Reducer::NoSync> pause;
    if (micro + 1 < micro_batches) pause.emplace(reducer.no_sync());
    model.loss(comm.rank(), micro).backward();
  }
  reducer.finish();
  std::vector<torch::Tensor> gradients;
  for (const auto& parameter : model.parameters()) gradients.push_back(parameter.grad().clone());
  return gradients;
}

bool same_bits(const std::vector<torch::Tensor>& a, const std::vector<torch::Tensor>& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!torch::equal(a[i], b[i])) return false;
  return a.size() == b.size();
}

}  // namespace

TEST_CASE("the size of the buckets changes no bit where the order of additions is ours") {
  for (const int ranks : {1, 2, 3, 4}) {
    std::mutex mutex;
    int different = 0;
    testing::run_ranks(ranks, [&](Communicator& comm) {
      const auto one_bucket = gradients_of(comm, {.tail_kib = 1024});
      const auto several = gradients_of(comm, {.tail_kib = 1});
      const std::scoped_lock lock(mutex);
      different += same_bits(one_bucket, several) ? 0 : 1;
    });
    CHECK(different == 0);
  }
}

TEST_CASE("a slow reduction never sees the gradients of a later micro-batch") {
  testing::run_ranks(3, [](Communicator& comm) {
    const auto expected = gradients_of(comm, {.tail_kib = 1}, 4);
    // Operation 0 is the start-up check; the first bucket is held back until two more operations have been issued.
    testing::FaultyCommunicator slow(comm, {.kind = testing::Fault::Kind::delay, .operation = 1, .later_operations = 2});
    if (!same_bits(gradients_of(slow, {.tail_kib = 1, .overlap = Overlap::on}, 4), expected))
      throw Error("the delayed run differs");
  });
}

TEST_CASE("a failed collective surfaces from finish, and nothing is sent after it") {
  CHECK_THROWS_AS(testing::run_ranks(2,
                                     [](Communicator& comm) {
                                       testing::FaultyCommunicator faulty(comm, {.operation = 1});
                                       Wide model;
                                       GradReducer reducer(model.named_parameters(), faulty, {.overlap = Overlap::on});
                                       model.loss(comm.rank(), 0).backward();
                                       reducer.finish();
                                     }),
                  CommError);
}

TEST_CASE("a reducer without trainable parameters has nothing to do") {
  testing::run_ranks(2, [](Communicator& comm) {
    GradReducer reducer(std::vector<NamedTensor>{{"frozen", torch::ones({3})}}, comm);
    reducer.finish();
    if (reducer.counters().collectives != 0) throw Error("a collective was issued");
  });
}

TEST_CASE("four micro-batches in a window cost the collectives and bytes of one: a quarter for each sample") {
  testing::run_ranks(3, [](Communicator& comm) {
    const auto cost_of_window = [&](int micro_batches) {
      testing::OpLog log;
      testing::LoggedCommunicator logged(comm, log);
      Wide model;
      GradReducer reducer(model.named_parameters(), logged, {.tail_kib = 1});
      log.clear();
      for (int micro = 0; micro < micro_batches; ++micro) {
        std::optional<Reducer::NoSync> pause;
        if (micro + 1 < micro_batches) pause.emplace(reducer.no_sync());
        model.loss(comm.rank(), micro).backward();
      }
      reducer.finish();
      const auto& counters = reducer.counters();
      return std::tuple(log.records(), counters.collectives, counters.bytes);
    };
    if (cost_of_window(4) != cost_of_window(1)) throw Error("accumulation costs more than one micro-batch");
  });
}
