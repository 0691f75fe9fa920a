#include "train/located_loss.hpp"

#include <torch/nn/functional.h>
#include <torch/types.h>

#include "ddpkit/data/in_memory_dataset.hpp"
#include "support/catch.hpp"

namespace ddpkit {

namespace {

/// Samples 10, 11 and so on, with the given labels.
Batch labelled(const std::vector<std::int64_t>& labels) {
  HostBatch host;
  host.rows = std::ssize(labels);
  host.arrays.push_back(make_array("target", DType::int64, {host.rows}));
  std::copy(labels.begin(), labels.end(), host.arrays.front().values<std::int64_t>().begin());
  for (std::int64_t i = 0; i < host.rows; ++i) host.ids.push_back(10 + i);
  return Batch(std::make_shared<const HostBatch>(std::move(host)));
}

LossFunction at_step_4(LossFunction loss) {
  return located(std::move(loss), [] { return std::string("step 4"); });
}

Loss cross_entropy_of_three_classes(const Batch& batch) {
  return torch::nn::functional::cross_entropy(torch::zeros({batch.rows(), 3}), batch.target());
}

}  // namespace

TEST_CASE("a label without an output is bad data, and the message names label and sample") {
  const LossFunction loss = at_step_4(cross_entropy_of_three_classes);
  CHECK_NOTHROW(loss(labelled({0, 1, 2})));
  CHECK_THROWS_AS(loss(labelled({0, 1, 5, 2, 1, 0})), DataError);
  CHECK_THROWS_WITH(loss(labelled({0, 1, 5, 2, 1, 0})),
                    Catch::Contains("step 4, micro-batch 0, samples 10, 11, 12, 13 and 2 more, targets from 0 (sample 10) to 5 "
                                    "(sample 12): ") &&
                        Catch::Contains("Target 5"));
  CHECK_THROWS_WITH(loss(labelled({1, -1})), Catch::Contains("targets from -1 (sample 11) to 1 (sample 10)"));
}

TEST_CASE("other exceptions keep their status and tell their place") {
  const Batch batch = labelled({0});
  const LossFunction broken = at_step_4([](const Batch&) -> Loss { throw std::runtime_error("no loss"); });
  CHECK_THROWS_WITH(broken(batch), Catch::Contains("step 4") && Catch::Contains("no loss"));
  const LossFunction refused = at_step_4([](const Batch&) -> Loss { throw on_all_ranks(ConfigError("user.x: no")); });
  try {
    refused(batch);
    FAIL("nothing was thrown");
  } catch (const Error& error) {
    CHECK(error.status() == ExitStatus::config);
    CHECK(error.on_all_ranks());
  }
  const LossFunction shapes = at_step_4([](const Batch&) -> Loss { return torch::ones({2, 3}).matmul(torch::ones({2})); });
  CHECK_THROWS_WITH(shapes(batch), Catch::Contains("step 4") && !Catch::Contains("frame #"));
}

TEST_CASE("what LibTorch throws when memory runs out passes as it is") {
  const LossFunction greedy = at_step_4([](const Batch&) -> Loss {
    TORCH_CHECK_WITH(OutOfMemoryError, false, "no memory");
    return torch::zeros({});
  });
  CHECK_THROWS_AS(greedy(labelled({0})), c10::OutOfMemoryError);
}

}  // namespace ddpkit
