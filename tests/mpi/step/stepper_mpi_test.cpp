// The Stepper on micro-batches of one's own, and in windows that are short, empty or broken.
#include <torch/torch.h>

#include <limits>

#include "ddpkit/comm/make_communicator.hpp"
#include "ddpkit/optim/make_optimizer.hpp"
#include "ddpkit/reduce/grad_reducer.hpp"
#include "ddpkit/schedule/schedule_plan.hpp"
#include "ddpkit/step/stepper.hpp"
#include "support/catch.hpp"
#include "support/toy_problem.hpp"

namespace ddpkit::testing {
namespace {

constexpr double kOwnRate = 0.1;

/// A hand-written loop on the toy model, with SGD.
struct OwnLoop {
  explicit OwnLoop(Communicator& ranks, const StepperOptions& options = {})
      : stepper(reducer_on(ranks), optimizer(), schedule, options) {}

  StepResult run(const std::vector<Batch>& batches) {
    return stepper.run(batches, [this](const Batch& batch) { return loss(batch); });
  }
  Reducer& reducer_on(Communicator& ranks) {
    return *(reducer_ = std::make_unique<GradReducer>(model->named_parameters(), ranks));
  }
  Optimizer& optimizer() {
    optimizer_ = make_optimizer(named_tensors(model->named_parameters()), {.name = OptimizerKind::sgd, .lr = kOwnRate});
    return *optimizer_;
  }

  torch::nn::Sequential model = toy_model();
  std::function<Loss(const Batch&)> loss = [this](const Batch& batch) { return toy_loss(model, batch); };
  LrSchedule schedule{plan_schedule({}, {.steps = 100, .steps_per_epoch = 10}), kOwnRate};
  std::unique_ptr<GradReducer> reducer_;
  std::unique_ptr<Optimizer> optimizer_;
  Stepper stepper;
};

/// One process, one step on all rows at once; clipped to `norm` where that is above 0.
torch::nn::Sequential after_one_step(const Batch& all, double norm = 0) {
  torch::nn::Sequential model = toy_model();
  torch::optim::SGD optimizer(model->parameters(), torch::optim::SGDOptions(kOwnRate));
  toy_loss(model, all).mean.backward();
  if (norm > 0) torch::nn::utils::clip_grad_norm_(model->parameters(), norm);
  optimizer.step();
  return model;
}

std::vector<std::int64_t> ids_from(std::int64_t begin, std::int64_t count) {
  std::vector<std::int64_t> ids;
  for (std::int64_t id = begin; id < begin + count; ++id) ids.push_back(id);
  return ids;
}

/// Rank r brings two micro-batches of r and r + 1 rows: rank 0's first has none.
std::vector<Batch> unequal_share(const ToyDataset& data, int rank) {
  return {data.rows(ids_from(rank * rank, rank)), data.rows(ids_from(rank * rank + rank, rank + 1))};
}

Batch union_of_shares(const ToyDataset& data, int ranks) {
  return data.rows(ids_from(0, static_cast<std::int64_t>(ranks) * ranks));
}

}  // namespace

TEST_CASE("a graph where there is nothing to record with is refused") {
  const auto ranks = make_communicator();
  CHECK_THROWS_WITH(OwnLoop(*ranks, {.cuda_graph = CudaGraph::on}), Catch::Contains("linked with ddpkit::cuda"));
}

TEST_CASE("unequal micro-batches of unequal ranks give the step of one process on their union, clipped once") {
  const auto ranks = make_communicator();
  const ToyDataset data(100);
  for (const double norm : {0.0, 0.3}) {
    OwnLoop loop(*ranks, {.clip_norm = norm});
    const StepResult result = loop.run(unequal_share(data, ranks->rank()));
    CHECK(result.rows == ranks->world_size() * ranks->world_size());
    CHECK(distance(*after_one_step(union_of_shares(data, ranks->world_size()), norm), *loop.model) < 1e-12);
  }
}

TEST_CASE("a window without a row on any rank is skipped, and counts as a step") {
  const auto ranks = make_communicator();
  const ToyDataset data(1);
  OwnLoop loop(*ranks);
  const StepResult result = loop.run({data.rows({}), data.rows({})});
  CHECK(result.update == StepResult::Update::skipped);
  CHECK(loop.stepper.progress().step == 1);
  CHECK(loop.stepper.progress().samples == 0);
  CHECK(distance(*toy_model(), *loop.model) == 0);
}

TEST_CASE("ranks that pass different numbers of micro-batches are told on all of them") {
  const auto ranks = make_communicator();
  if (ranks->world_size() == 1) return;
  const ToyDataset data(4);
  OwnLoop loop(*ranks);
  std::vector<Batch> batches(static_cast<std::size_t>(ranks->rank() == 1 ? 1 : 2), data.rows({0, 1}));
  CHECK_THROWS_WITH(loop.run(batches), Catch::Contains("not the same number"));
  CHECK(distance(*toy_model(), *loop.model) == 0);
}

TEST_CASE("a mean over nothing adds nothing, and a count that is no number is refused") {
  const auto ranks = make_communicator();
  const ToyDataset data(8);
  OwnLoop loop(*ranks);
  loop.loss = [&](const Batch& batch) -> Loss {
    if (batch.rows() == 3) return {torch::zeros({}) / 0.0, 0.0};
    return toy_loss(loop.model, batch);
  };
  const StepResult result = loop.run({data.rows({0, 1}), data.rows({2, 3, 4})});
  CHECK(result.update == StepResult::Update::applied);
  CHECK(result.count == 2 * ranks->world_size());
  CHECK(distance(*after_one_step(data.rows({0, 1})), *loop.model) < 1e-12);
  for (const double count : {-1.0, std::nan("")}) {
    loop.loss = [&](const Batch& batch) -> Loss { return {toy_loss(loop.model, batch).mean, count}; };
    CHECK_THROWS_WITH(OwnLoop(*ranks).stepper.run(std::vector<Batch>{data.rows({0})}, loop.loss),
                      Catch::Contains("a mean over"));
  }
}

TEST_CASE("what is not finite on one rank, in loss or gradient, leaves all ranks as they were") {
  const auto ranks = make_communicator();
  const bool last = ranks->rank() == ranks->world_size() - 1;
  const ToyDataset data(8);
  const double infinity = std::numeric_limits<double>::infinity();
  for (const bool in_gradient : {false, true}) {
    const auto broken = [&](OwnLoop& loop) {
      return [&, last](const Batch& batch) -> Loss {
        const torch::Tensor loss = toy_loss(loop.model, batch).mean;
        if (!last) return loss;
        if (!in_gradient) return loss * infinity;
        return loss + (loop.model->parameters()[0].sum() * 0).sqrt();  // 0, with a gradient of 0 / 0
      };
    };
    CAPTURE(in_gradient);
    OwnLoop skipping(*ranks, {.non_finite = NonFinite::skip});
    skipping.loss = broken(skipping);
    CHECK(skipping.run({data.rows({0, 1}), data.rows({2, 3})}).update == StepResult::Update::skipped);
    CHECK(distance(*toy_model(), *skipping.model) == 0);
    skipping.loss = [&](const Batch& batch) { return toy_loss(skipping.model, batch); };
    CHECK(skipping.run({data.rows({0, 1, 2, 3})}).update == StepResult::Update::applied);
    CHECK(distance(*after_one_step(data.rows({0, 1, 2, 3})), *skipping.model) < 1e-12);

    OwnLoop stopping(*ranks);
    stopping.loss = broken(stopping);
    try {
      stopping.run({data.rows({0, 1})});
      FAIL("nothing was thrown");
    } catch (const Error& error) {
      CHECK(error.status() == ExitStatus::diverged);
      CHECK(error.on_all_ranks());
    }
    CHECK(distance(*toy_model(), *stopping.model) == 0);
  }
}

TEST_CASE("what a window that ended in an exception had gathered does not leak into the next") {
  const auto ranks = make_communicator();
  const ToyDataset data(8);
  OwnLoop loop(*ranks);
  int calls = 0;
  loop.loss = [&](const Batch& batch) -> Loss {
    if (++calls == 2) throw DataError("the second micro-batch cannot be read");
    return toy_loss(loop.model, batch);
  };
  CHECK_THROWS_AS(loop.run({data.rows({4, 5}), data.rows({6, 7}), data.rows({0, 1})}), DataError);
  CHECK(loop.run({data.rows({0, 1, 2, 3})}).update == StepResult::Update::applied);
  CHECK(distance(*after_one_step(data.rows({0, 1, 2, 3})), *loop.model) < 1e-12);
}

}  // namespace ddpkit::testing
