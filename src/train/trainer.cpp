#include "ddpkit/train/trainer.hpp"

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include "ddpkit/base/text.hpp"

#include "ddpkit/base/error.hpp"
#include "ddpkit/batch/batch_plan.hpp"
#include "ddpkit/comm/agree.hpp"
#include "ddpkit/data/loader.hpp"
#include "ddpkit/data/sequential_order.hpp"
#include "ddpkit/reduce/parameter_sync.hpp"
#include "ddpkit/tensor/page_locked.hpp"
#include "train/located_loss.hpp"
#include "train/metric_list.hpp"
#include "train/training_run.hpp"

namespace ddpkit {
namespace {

void require_equal_data(Communicator& ranks, const Dataset& set, std::string_view name) {
  const std::vector<Fact> facts{{"samples", text(set.size())}, {"fingerprint", text(std::hex, set.fingerprint())}};
  require_equal(ranks, name, facts);
}

/// While it lives the model evaluates; afterwards every layer is as it was.
class EvaluationMode {
 public:
  explicit EvaluationMode(Model& model) : model_(model), before_(model.modes()) { model_.set_mode(Mode::evaluate); }
  ~EvaluationMode() { model_.set_modes(before_); }
  EvaluationMode(const EvaluationMode&) = delete;
  EvaluationMode& operator=(const EvaluationMode&) = delete;

 private:
  Model& model_;
  std::vector<Mode> before_;
};

}  // namespace

Trainer::Trainer(Model model, LossFunction loss, const TrainerContext& context)
    : model_(std::move(model)), loss_(std::move(loss)), context_(context), savings_(savings_at_start(context.config.memory)) {
  model_.to(context_.device);
  broadcast_tensors(model_.parameters(), context_.channels);
  broadcast_tensors(model_.buffers(), context_.channels);
}

Trainer& Trainer::add_metric(std::string name, MetricFunction metric) {
  const auto taken = [&](const auto& known) { return known.first == name; };
  if (name == "loss" || std::ranges::any_of(metrics_, taken))
    throw UsageError(text("Trainer::add_metric: there is a metric called ", name, " already"));
  metrics_.emplace_back(std::move(name), std::move(metric));
  return *this;
}

Trainer& Trainer::set_sample_weights(std::vector<double> weights) {
  sample_weights_ = std::move(weights);
  return *this;
}

Trainer& Trainer::add_callback(std::shared_ptr<Callback> callback) {
  callbacks_.push_back(std::move(callback));
  return *this;
}

void Trainer::load_weights() {
  Snapshot::resume_weights(model_, context_);
}

TrainSummary Trainer::train(const Dataset& train_set, const Dataset* valid_set) {
  require_equal_data(context_.channels.control, train_set, "the training data");
  if (valid_set != nullptr) require_equal_data(context_.channels.control, *valid_set, "the validation data");
  TrainingRun run(*this, train_set, valid_set);
  return run.run();
}

Tally Trainer::evaluate(const Dataset& valid_set) {
  const at::NoGradGuard no_graph;
  const RunConfig& config = context_.config;
  Communicator& ranks = context_.channels.control;
  require_equal_data(ranks, valid_set, "the validation data");
  average_buffers(model_.buffers(), context_.channels);
  const EvaluationMode evaluation_mode(model_);

  const SequentialOrder order(valid_set.size());
  std::unique_ptr<Loader> loader;
  all_or_none(ranks, "planning the evaluation", [&] {
    const std::int64_t planned = solve_batch(config.batch, ranks.world_size()).micro;
    const std::int64_t micro = std::min(planned, fitting_micro_.value_or(planned));
    const LoaderOptions options{.sampler = {.global = micro * ranks.world_size(),
                                            .tail = Tail::partial,
                                            .phase = Phase::evaluate,
                                            .rank = ranks.rank(),
                                            .world_size = ranks.world_size()},
                                .micro = micro,
                                .transforms = make_transforms(config.data.transform, Phase::evaluate, 0),
                                .prefetch = config.data.prefetch,
                                .workers = config.data.workers,
                                .allocate = context_.device.is_cuda() ? &allocate_page_locked : &allocate_aligned};
    loader = std::make_unique<Loader>(valid_set, order, options);
  });
  const LossFunction loss = located(this->loss(), [] { return std::string("evaluation"); });
  Tally tally;
  open_tally(tally, metrics_);
  for (const Window& window : *loader)
    for (std::int64_t i = 0; i < window.micro_batches(); ++i) {
      const Batch batch = Batch(window.fetch(i)).to(context_.device);
      if (batch.rows() > 0) add_to_tally(tally, batch, loss(batch), metrics_);
    }
  tally.reduce(context_.channels.control);
  return tally;
}

}  // namespace ddpkit
