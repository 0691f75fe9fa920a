// What a window tells of the noise of the gradient, against exact norms that each rank computes by itself.
#include <torch/torch.h>

#include "ddpkit/comm/make_communicator.hpp"
#include "ddpkit/optim/make_optimizer.hpp"
#include "ddpkit/reduce/grad_reducer.hpp"
#include "ddpkit/reduce/inline_reducer.hpp"
#include "ddpkit/schedule/schedule_plan.hpp"
#include "ddpkit/step/stepper.hpp"
#include "support/catch.hpp"
#include "support/toy_problem.hpp"

namespace ddpkit::testing {
namespace {

constexpr std::int64_t kNoiseRows = 3;  // in a micro-batch: any three in a row have 6 tokens

enum class Reduction { overlapped, afterwards, plain };

struct NoiseCase {
  Reduction reduction = Reduction::overlapped;
  std::int64_t accumulate = 1;
  Weighting weighting = Weighting::rows;
  GradientNoise noise = GradientNoise::measured;
};

/// A hand-written loop on the toy model that measures.
struct NoisyLoop {
  NoisyLoop(Communicator& ranks, const NoiseCase& given) : how(given), reducer(make_reducer(ranks)) {
    stepper.set_noise(how.noise);
  }

  StepResult run(const std::vector<Batch>& batches) {
    return stepper.run(batches, [this](const Batch& batch) { return toy_loss(model, batch, how.weighting); });
  }

  std::unique_ptr<Reducer> make_reducer(Communicator& ranks) {
    const auto parameters = named_tensors(model->named_parameters());
    if (how.reduction == Reduction::plain) return std::make_unique<InlineReducer>(parameters, ranks);
    const Overlap overlap = how.reduction == Reduction::overlapped ? Overlap::on : Overlap::off;
    return std::make_unique<GradReducer>(parameters, ranks, ReducerOptions{.tail_kib = 1, .overlap = overlap});
  }

  NoiseCase how;
  torch::nn::Sequential model = toy_model();
  std::unique_ptr<Reducer> reducer;
  LrSchedule schedule{plan_schedule({}, {.steps = 100, .steps_per_epoch = 10}), 0.1};
  std::unique_ptr<Optimizer> optimizer =
      make_optimizer(named_tensors(model->named_parameters()), {.name = OptimizerKind::sgd, .lr = 0.1, .momentum = 0.9});
  Stepper stepper{*reducer, *optimizer, schedule, {.clip_norm = 0.5}};
};

std::vector<std::int64_t> id_range(std::int64_t begin, std::int64_t count) {
  std::vector<std::int64_t> ids;
  for (std::int64_t id = begin; id < begin + count; ++id) ids.push_back(id);
  return ids;
}

std::vector<Batch> micro_batches(const ToyDataset& data, std::int64_t first, std::int64_t number) {
  std::vector<Batch> batches;
  for (std::int64_t i = 0; i < number; ++i) batches.push_back(data.rows(id_range(first + i * kNoiseRows, kNoiseRows)));
  return batches;
}

/// |mean gradient|^2 over the rows `ids`, in one process.
double exact_squared_norm(torch::nn::Sequential& model, const Batch& batch, Weighting weighting) {
  double sum = 0;
  for (const torch::Tensor& gradient : torch::autograd::grad({toy_loss(model, batch, weighting).mean}, model->parameters()))
    sum += gradient.pow(2).sum().item<double>();
  return sum;
}

/// What the first window, of ids from 0 on, should tell.
NoiseObservation expected_noise(const ToyDataset& data, const NoiseCase& how, std::int64_t ranks,
                                torch::nn::Sequential& model) {
  const std::int64_t share = how.accumulate * kNoiseRows, window = share * ranks;
  const std::int64_t small = ranks > 1 ? share : kNoiseRows, parts = ranks > 1 ? ranks : 1;
  double mean = 0;
  for (std::int64_t part = 0; part < parts; ++part)
    mean += exact_squared_norm(model, data.rows(id_range(part * small, small)), how.weighting) / static_cast<double>(parts);
  return {.small_batch = static_cast<double>(small),
          .small_squared_norm = mean,
          .large_batch = static_cast<double>(window),
          .large_squared_norm = exact_squared_norm(model, data.rows(id_range(0, window)), how.weighting)};
}

std::vector<NoiseCase> noise_cases() {
  std::vector<NoiseCase> cases;
  for (const Reduction reduction : {Reduction::overlapped, Reduction::afterwards, Reduction::plain})
    for (const std::int64_t accumulate : {1, 2, 3})
      for (const Weighting weighting : {Weighting::rows, Weighting::tokens})
        cases.push_back({reduction, accumulate, weighting});
  return cases;
}

}  // namespace

TEST_CASE("a window tells the squared norms of its small batches and of the whole, as one process computes them") {
  const auto ranks = make_communicator();
  const ToyDataset data(1000);
  for (const NoiseCase& how : noise_cases()) {
    CAPTURE(static_cast<int>(how.reduction), how.accumulate, static_cast<int>(how.weighting));
    NoisyLoop loop(*ranks, how);
    for (int step = 0; step < 3; ++step) {
      const NoiseObservation expected = expected_noise(data, how, ranks->world_size(), loop.model);
      const auto batches = micro_batches(data, ranks->rank() * how.accumulate * kNoiseRows, how.accumulate);
      const std::optional<NoiseObservation> seen = loop.run(batches).noise;
      REQUIRE(seen.has_value() == (ranks->world_size() * how.accumulate > 1));
      if (!seen) continue;
      CHECK(seen->small_batch == expected.small_batch);
      CHECK(seen->large_batch == expected.large_batch);
      CHECK(seen->small_squared_norm == Approx(expected.small_squared_norm).epsilon(1e-10));
      CHECK(seen->large_squared_norm == Approx(expected.large_squared_norm).epsilon(1e-10));
    }
  }
}

TEST_CASE("windows of unequal parts tell nothing, and the next ones do again") {
  const auto ranks = make_communicator();
  const ToyDataset data(1000);
  NoisyLoop loop(*ranks, {.accumulate = 2});
  const std::int64_t rank = ranks->rank();
  CHECK_FALSE(loop.run({data.rows(id_range(rank, rank)), data.rows(id_range(rank, rank + 1))}).noise.has_value());
  CHECK_FALSE(loop.run({data.rows({}), data.rows({})}).noise.has_value());
  CHECK(loop.run(micro_batches(data, rank * 6, 2)).noise.has_value());
}

TEST_CASE("a parameter that only the first micro-batch uses counts as well") {
  const auto ranks = make_communicator();
  const ToyDataset data(1000);
  NoisyLoop loop(*ranks, {.accumulate = 2});
  const auto bias = loop.model->parameters().back();
  const std::vector<Batch> batches = micro_batches(data, ranks->rank() * 6, 2);
  bool first = true;
  double own = 0;
  const StepResult result = loop.stepper.run(batches, [&](const Batch& batch) -> Loss {
    const bool used = std::exchange(first, false);
    return used ? (bias * batch.target().mean(0)).sum() : 0.0 * loop.model->parameters().front().sum();
  });
  if (ranks->world_size() > 1) {
    own = (batches[0].target().mean(0) / 2).pow(2).sum().item<double>() / ranks->world_size();
    ranks->all_reduce(std::span(&own, 1), ReduceOp::sum).wait();
  } else {
    own = batches[0].target().mean(0).pow(2).sum().item<double>();
  }
  REQUIRE(result.noise.has_value());
  CHECK(result.noise->small_squared_norm == Approx(own).epsilon(1e-10));
}

TEST_CASE("measuring changes no bit of the parameters and adds no collective") {
  const auto ranks = make_communicator();
  const ToyDataset data(1000);
  for (NoiseCase how : noise_cases()) {
    NoisyLoop measured(*ranks, how);
    how.noise = GradientNoise::ignored;
    NoisyLoop ignored(*ranks, how);
    for (std::int64_t step = 0; step < 5; ++step) {
      const auto batches = micro_batches(data, (step * 4 + ranks->rank()) * how.accumulate * kNoiseRows, how.accumulate);
      measured.run(batches);
      CHECK_FALSE(ignored.run(batches).noise.has_value());
    }
    CHECK(distance(*measured.model, *ignored.model) == 0);
    CHECK(measured.reducer->counters().collectives == ignored.reducer->counters().collectives);
  }
}

}  // namespace ddpkit::testing
