// What evaluation counts, on any number of ranks.
#include <set>

#include "support/trainer_world.hpp"

using namespace ddpkit;
using namespace ddpkit::testing;

namespace {

/// One process, all samples at once.
double loss_of_all(const ToyDataset& data, torch::nn::Sequential model) {
  const torch::NoGradGuard no_graph;
  std::vector<std::int64_t> ids;
  for (std::int64_t id = 0; id < data.size(); ++id) ids.push_back(id);
  return toy_loss(model, data.rows(ids)).mean.item<double>();
}

}  // namespace

TEST_CASE("evaluation counts every sample exactly once, also when samples are fewer than ranks or no multiple") {
  const auto ranks = make_communicator();
  for (const std::int64_t samples : {1, 2, 3, 7, 12, 13, 29}) {
    ToyTrainer toy(*ranks, toy_config());
    std::vector<double> seen(static_cast<std::size_t>(samples));
    toy.trainer.add_metric("id", [&](const Batch& batch, const Loss&) {
      for (const std::int64_t id : batch.ids()) ++seen[static_cast<std::size_t>(id)];
      return Ratio{static_cast<double>(batch.ids().size()), 1};
    });
    const ToyDataset data(samples);
    const Tally tally = toy.trainer.evaluate(data);
    ranks->all_reduce(std::span(seen), ReduceOp::sum).wait();
    CAPTURE(samples);
    CHECK(std::set<double>(seen.begin(), seen.end()) == std::set<double>{1.0});
    CHECK(tally.value("loss") == Approx(loss_of_all(data, toy.model)).epsilon(1e-12));
  }
}

TEST_CASE("a metric is the sum of numerators over the sum of denominators, not a mean of means") {
  const auto ranks = make_communicator();
  ToyTrainer toy(*ranks, toy_config());
  toy.trainer.add_metric("share of even samples", [](const Batch& batch, const Loss&) {
    Ratio ratio;
    for (const std::int64_t id : batch.ids()) ratio.numerator += id % 2 == 0 ? 1 : 0;
    ratio.denominator = static_cast<double>(batch.rows());
    return ratio;
  });
  const ToyDataset seven(7);
  CHECK(toy.trainer.evaluate(seven).value("share of even samples") == Approx(4.0 / 7).epsilon(1e-14));
}

TEST_CASE("evaluation weighs a loss over tokens by tokens, and a batch without any adds nothing") {
  const auto ranks = make_communicator();
  ToyTrainer toy(*ranks, toy_config());
  toy.loss = [](const Batch& batch) -> Loss {
    const torch::Tensor tokens = batch["tokens"] - 1;  // 0, 1 or 2
    const torch::Tensor values = torch::tensor(std::vector<std::int64_t>(batch.ids().begin(), batch.ids().end()));
    return {(values * tokens).sum() / tokens.sum(), tokens.sum().item<double>()};
  };
  const ToyDataset five(5);  // 0, 1, 2, 0 and 1 tokens
  CHECK(toy.trainer.evaluate(five).value("loss") == Approx((1 * 1 + 2 * 2 + 4 * 1) / 4.0).epsilon(1e-14));
  const ToyDataset one(1);
  CHECK(std::isnan(toy.trainer.evaluate(one).value("loss")));
}

TEST_CASE("an empty validation set is an error on all ranks") {
  const auto ranks = make_communicator();
  ToyTrainer toy(*ranks, toy_config());
  const ToyDataset none(0);
  try {
    toy.trainer.evaluate(none);
    FAIL("nothing was thrown");
  } catch (const DataError& error) {
    CHECK(error.on_all_ranks());
    CHECK_THAT(error.what(), Catch::Contains("empty"));
  }
}

TEST_CASE("an exception of the loss function tells where it was evaluating") {
  const auto ranks = make_communicator();
  ToyTrainer toy(*ranks, toy_config());
  toy.loss = [](const Batch&) -> Loss { throw std::runtime_error("no loss today"); };
  const ToyDataset data(2 * ranks->world_size());
  CHECK_THROWS_WITH(toy.trainer.evaluate(data),
                    Catch::Contains("evaluation, micro-batch 0, samples ") && Catch::Contains("no loss today"));
}
