#include "train/training_plan.hpp"

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/comm/agree.hpp"
#include "ddpkit/data/make_order.hpp"
#include "ddpkit/optim/make_optimizer.hpp"
#include "ddpkit/optim/sharded_optimizer.hpp"
#include "ddpkit/schedule/schedule_plan.hpp"
#include "ddpkit/tensor/page_locked.hpp"

namespace ddpkit {
namespace {

LoaderOptions loader_options(const TrainerContext& context, const BatchPlan& batch) {
  const RunConfig& config = context.config;
  const Communicator& ranks = context.channels.control;
  return {.sampler = {.global = batch.global,
                      .tail = config.data.tail,
                      .phase = Phase::train,
                      .rank = ranks.rank(),
                      .world_size = ranks.world_size()},
          .micro = batch.micro,
          .transforms = make_transforms(config.data.transform, Phase::train, static_cast<std::uint64_t>(config.run.seed)),
          .prefetch = config.data.prefetch,
          .workers = config.data.workers,
          .allocate = context.device.is_cuda() ? &allocate_page_locked : &allocate_aligned};
}

/// As if the batch never changed: the clock of the learning rate.
RunLength constant_length(const RunBounds& bounds, const Loader& loader) {
  const std::int64_t per_epoch = loader.windows_per_epoch();
  return {.steps = bounds.steps > 0 ? bounds.steps : bounds.epochs * per_epoch, .steps_per_epoch = per_epoch};
}

RunLength real_length(const BatchOptions& options, const BatchSchedule& changes, const RunLength& constant) {
  if (!may_change(options)) return constant;
  const bool calendar = !changes.constant();
  return {.steps = calendar || changes.run().steps > 0 ? changes.steps() : 0, .steps_per_epoch = constant.steps_per_epoch};
}

/// The noise scale is read off parts of a window: the ranks', or the micro-batches of the only one.
void require_parts(const BatchOptions& options, const BatchPlan& batch, int world_size) {
  if (options.growth.by == GrowthBy::noise_scale && world_size == 1 && batch.accumulate == 1)
    throw ConfigError(
        "batch.growth.by: noise_scale compares parts of a window, and one rank with one micro-batch has one part; set "
        "batch.accumulate: 2, or start more ranks");
}

/// One rank has nothing to share.
OptimizerOptions placed(const TrainerContext& context, const std::vector<NamedTensor>& parameters) {
  OptimizerOptions options = context.config.optimizer;
  make_optimizer(parameters, options);  // throws for settings that do not fit the parameters
  if (options.placement == UpdatePlacement::replicated) return options;
  const std::string why = why_not_sharded(parameters);
  if (!why.empty())
    context.log.warning("optimizer", text("placement: every rank updates its own copy after all, because ", why));
  if (!why.empty() || context.channels.control.world_size() == 1) options.placement = UpdatePlacement::replicated;
  return options;
}

ReducerOptions delivering(ReducerOptions options, UpdatePlacement placement) {
  options.deliver = delivery_for(placement);
  return options;
}

TrainingPlan plan(const PlanInput& input) {
  const auto& [context, model, train_set, sample_weights] = input;
  const RunConfig& config = context.config;
  const BatchPlan batch = solve_batch(config.batch, context.channels.control.world_size());
  std::unique_ptr<Order> order = make_order(train_set.size(), {.kind = config.data.order,
                                                               .seed = static_cast<std::uint64_t>(config.run.seed),
                                                               .block = config.data.block,
                                                               .weights = sample_weights});
  auto loader = std::make_unique<Loader>(train_set, *order, loader_options(context, batch));
  require_parts(config.batch, batch, context.channels.control.world_size());
  require_schedule_fits(config.batch, context.channels.control.world_size());
  const RunBounds bounds{.epochs = config.run.epochs, .steps = config.run.steps, .samples = order->size()};
  const BatchSchedule changes(config.batch, bounds, config.data.tail);
  const RunLength length = constant_length(bounds, *loader);
  const OptimizerOptions optimizer = placed(context, without_repeats(model.parameters()));
  return {.batch = batch,
          .order = std::move(order),
          .loader = std::move(loader),
          .bounds = bounds,
          .changes = changes,
          .length = real_length(config.batch, changes, length),
          .schedule = LrSchedule(plan_schedule(config.schedule, length), config.optimizer.lr),
          .optimizer = optimizer,
          .reducer = delivering(config.reducer, optimizer.placement)};
}

}  // namespace

std::unique_ptr<TrainingPlan> plan_training(const PlanInput& input) {
  std::unique_ptr<TrainingPlan> result;
  all_or_none(input.context.channels.control, "planning the run",
              [&] { result = std::make_unique<TrainingPlan>(plan(input)); });
  return result;
}

}  // namespace ddpkit
