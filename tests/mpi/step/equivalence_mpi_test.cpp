// Law 1: N ranks x K micro-batches give the update of one process on the union of their rows.
#include <map>
#include <tuple>

#include "ddpkit/base/text.hpp"
#include "ddpkit/comm/make_communicator.hpp"
#include "ddpkit/data/loader.hpp"
#include "ddpkit/data/shuffle_order.hpp"
#include "ddpkit/optim/make_optimizer.hpp"
#include "ddpkit/reduce/grad_reducer.hpp"
#include "ddpkit/reduce/inline_reducer.hpp"
#include "ddpkit/schedule/schedule_plan.hpp"
#include "ddpkit/step/stepper.hpp"
#include "support/catch.hpp"
#include "support/toy_problem.hpp"

namespace {

using namespace ddpkit;
using namespace ddpkit::testing;

constexpr std::int64_t kGlobal = 48;                 // divides by 1, 2, 3, 4 ranks x 1, 3, 4 micro-batches
constexpr std::int64_t kSamples = 3 * kGlobal + 17;  // every fourth window is short
constexpr std::int64_t kSteps = 50;
constexpr double kRate = 0.05;
constexpr double kMomentum = 0.9;
constexpr double kDecay = 1e-2;
constexpr double kClip = 0.3;

struct Case {
  Tail tail;
  Weighting weighting;
  OptimizerKind optimizer;
  bool clip;
  friend auto operator<=>(const Case&, const Case&) = default;
};

/// One process, plain LibTorch, the whole window at once.
torch::nn::Sequential reference(const Case& c, const ToyDataset& data, const Order& order) {
  torch::nn::Sequential model = toy_model();
  std::unique_ptr<torch::optim::Optimizer> optimizer;
  if (c.optimizer == OptimizerKind::sgd)
    optimizer = std::make_unique<torch::optim::SGD>(
        model->parameters(), torch::optim::SGDOptions(kRate).momentum(kMomentum).nesterov(true).weight_decay(kDecay));
  else
    optimizer =
        std::make_unique<torch::optim::AdamW>(model->parameters(), torch::optim::AdamWOptions(kRate).weight_decay(kDecay));
  std::int64_t epoch = 0;
  std::int64_t position = 0;
  for (std::int64_t step = 0; step < kSteps; ++step) {
    if (position >= kSamples || (c.tail == Tail::drop && position + kGlobal > kSamples)) {
      ++epoch;
      position = 0;
    }
    std::vector<std::int64_t> ids;
    for (; position < kSamples && std::ssize(ids) < kGlobal; ++position) ids.push_back(order.at(epoch, position));
    optimizer->zero_grad();
    toy_loss(model, data.rows(ids), c.weighting).mean.backward();
    if (c.clip) torch::nn::utils::clip_grad_norm_(model->parameters(), kClip);
    optimizer->step();
  }
  return model;
}

struct Way {
  std::int64_t accumulate;
  Overlap overlap;
  UpdatePlacement placement = UpdatePlacement::replicated;
  bool inline_reducer = false;
};

torch::nn::Sequential distributed(const Case& c, const Way& way, const ToyDataset& data, const Order& order,
                                  Communicator& comm) {
  torch::nn::Sequential model = toy_model();
  const auto parameters = named_tensors(model->named_parameters());
  const OptimizerOptions options{.name = c.optimizer,
                                 .lr = kRate,
                                 .momentum = c.optimizer == OptimizerKind::sgd ? kMomentum : 0,
                                 .nesterov = c.optimizer == OptimizerKind::sgd,
                                 .weight_decay = kDecay,
                                 .no_decay = NoDecay::none,
                                 .placement = way.placement};
  const LrSchedule schedule(plan_schedule({}, {.steps = kSteps, .steps_per_epoch = 4}), kRate);
  std::unique_ptr<Reducer> reducer;
  std::unique_ptr<Optimizer> optimizer;
  if (way.inline_reducer) {
    reducer = std::make_unique<InlineReducer>(parameters, comm);
    optimizer = make_optimizer(parameters, options);
  } else {
    auto bucketed = std::make_unique<GradReducer>(
        parameters, comm, ReducerOptions{.tail_kib = 1, .overlap = way.overlap, .deliver = delivery_for(options.placement)});
    optimizer = make_optimizer(*bucketed, options);
    reducer = std::move(bucketed);
  }
  Stepper stepper(*reducer, *optimizer, schedule, {.clip_norm = c.clip ? kClip : 0});
  Loader loader(data, order,
                {.sampler = {.global = kGlobal, .tail = c.tail, .rank = comm.rank(), .world_size = comm.world_size()},
                 .micro = kGlobal / comm.world_size() / way.accumulate,
                 .workers = 0});
  for (std::int64_t step = 0; step < kSteps; ++step)
    stepper.run(loader.next_window(), [&](const Batch& batch) { return toy_loss(model, batch, c.weighting); });
  return model;
}

}  // namespace

TEST_CASE("any number of ranks and micro-batches gives the update of one process on the union batch") {
  at::set_num_threads(1);
  const auto comm = make_communicator();
  const ToyDataset data(kSamples);
  const ShuffleOrder order(kSamples, 7);
  for (const Tail tail : {Tail::drop, Tail::pad, Tail::partial})
    for (const Weighting weighting : {Weighting::rows, Weighting::tokens})
      for (const OptimizerKind optimizer : {OptimizerKind::sgd, OptimizerKind::adamw})
        for (const bool clip : {false, true}) {
          const Case c{tail, weighting, optimizer, clip};
          const torch::nn::Sequential expected = reference(c, data, order);
          for (const std::int64_t accumulate : {1, 3, 4})
            for (const Overlap overlap : {Overlap::on, Overlap::off}) {
              CAPTURE(name_of(tail), weighting == Weighting::tokens, name_of(optimizer), clip, accumulate, name_of(overlap));
              const auto replicated = distributed(c, {accumulate, overlap}, data, order, *comm);
              const auto sharded = distributed(c, {accumulate, overlap, UpdatePlacement::sharded}, data, order, *comm);
              CHECK(distance(*expected, *replicated) < 1e-10);
              CHECK(distance(*replicated, *sharded) == 0);
            }
        }
}

TEST_CASE("the bucketed reducer agrees with the plain one") {
  const auto comm = make_communicator();
  const ToyDataset data(kSamples);
  const ShuffleOrder order(kSamples, 7);
  const Case c{Tail::partial, Weighting::tokens, OptimizerKind::sgd, true};
  const auto plain = distributed(c, {.accumulate = 3, .overlap = Overlap::off, .inline_reducer = true}, data, order, *comm);
  const auto bucketed = distributed(c, {.accumulate = 3, .overlap = Overlap::on}, data, order, *comm);
  CHECK(distance(*plain, *bucketed) < 1e-12);
}

TEST_CASE("the same run twice gives the same bits, overlap on or off") {
  const auto comm = make_communicator();
  const ToyDataset data(kSamples);
  const ShuffleOrder order(kSamples, 7);
  const Case c{Tail::pad, Weighting::rows, OptimizerKind::adamw, true};
  const auto first = distributed(c, {.accumulate = 3, .overlap = Overlap::on}, data, order, *comm);
  const auto again = distributed(c, {.accumulate = 3, .overlap = Overlap::on}, data, order, *comm);
  const auto after = distributed(c, {.accumulate = 3, .overlap = Overlap::off}, data, order, *comm);
  CHECK(distance(*first, *again) == 0);
  CHECK(distance(*first, *after) == 0);
}
