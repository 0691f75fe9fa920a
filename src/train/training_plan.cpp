#include "train/training_plan.hpp"

#include "ddpkit/comm/agree.hpp"
#include "ddpkit/data/make_order.hpp"
#include "ddpkit/optim/make_optimizer.hpp"
#include "ddpkit/schedule/schedule_plan.hpp"

namespace ddpkit {
namespace {

LoaderOptions loader_options(const RunConfig& config, const BatchPlan& batch, const Communicator& ranks) {
  return {.sampler = {.global = batch.global,
                      .tail = config.data.tail,
                      .phase = Phase::train,
                      .rank = ranks.rank(),
                      .world_size = ranks.world_size()},
          .micro = batch.micro,
          .transforms = make_transforms(config.data.transform, Phase::train, static_cast<std::uint64_t>(config.run.seed)),
          .prefetch = config.data.prefetch,
          .workers = config.data.workers};
}

RunLength run_length(const RunConfig& config, const Loader& loader) {
  const std::int64_t per_epoch = loader.windows_per_epoch();
  return {.steps = config.run.steps > 0 ? config.run.steps : config.run.epochs * per_epoch, .steps_per_epoch = per_epoch};
}

TrainingPlan plan(const PlanInput& input) {
  const auto& [context, model, train_set, sample_weights] = input;
  const RunConfig& config = context.config;
  const BatchPlan batch = solve_batch(config.batch, context.channels.control.world_size());
  std::unique_ptr<Order> order = make_order(train_set.size(), {.kind = config.data.order,
                                                               .seed = static_cast<std::uint64_t>(config.run.seed),
                                                               .block = config.data.block,
                                                               .weights = sample_weights});
  auto loader = std::make_unique<Loader>(train_set, *order, loader_options(config, batch, context.channels.control));
  const RunLength length = run_length(config, *loader);
  return {.batch = batch,
          .order = std::move(order),
          .loader = std::move(loader),
          .length = length,
          .schedule = LrSchedule(plan_schedule(config.schedule, length), config.optimizer.lr),
          .optimizer = make_optimizer(without_repeats(model.parameters()), config.optimizer)};
}

}  // namespace

std::unique_ptr<TrainingPlan> plan_training(const PlanInput& input) {
  std::unique_ptr<TrainingPlan> result;
  all_or_none(input.context.channels.control, "planning the run",
              [&] { result = std::make_unique<TrainingPlan>(plan(input)); });
  return result;
}

}  // namespace ddpkit
