#include "train/recorder.hpp"

#include <ATen/core/grad_mode.h>

#include <algorithm>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/observe/open_metrics.hpp"

namespace ddpkit {
namespace {

constexpr double kWorthTelling = 0.05;  // of the time of steps, spent waiting for data

}  // namespace

Recorder::Recorder(const TrainerContext& context, const MetricList& metrics, const RunLength& length)
    : context_(context),
      metrics_(metrics),
      length_(length),
      hub_(open_metrics(context.config.metrics,
                        {.rank = context.channels.control.rank(), .total_steps = length.steps, .folder = context.run_folder},
                        context.log)),
      noise_(context.config) {}

void Recorder::start(const Progress& progress, const BatchPlan& batch, std::int64_t samples_per_epoch) {
  const std::int64_t epochs = context_.config.run.epochs;
  const bool open = length_.steps == 0 && epochs > 0;
  const std::string steps = open ? text("from step ", progress.step, " to the end of epoch ", epochs)
                                 : text("steps ", progress.step, "..", length_.steps);
  record_event(progress, text("training ", steps, ", ", length_.steps_per_epoch, " per epoch of ", samples_per_epoch,
                              " samples; ", plan_text(batch)));
}

void Recorder::record_event(const Progress& progress, std::string_view text, Shown shown) {
  MetricRecord record = new_record(RecordKind::event, progress);
  record.text = text;
  record.shown = shown;
  hub_->write(record);
}

void Recorder::add(const Batch& batch, const Loss& loss) {
  const at::NoGradGuard no_graph;
  for (const auto& [name, metric] : metrics_) {
    const Ratio part = metric(batch, loss);
    window_.add(name, part.numerator, part.denominator);
  }
}

void Recorder::record(const Progress& progress, const StepResult& result) {
  since_.metrics.merge(window_);
  window_.clear();
  samples_ += static_cast<double>(result.rows);
  since_.samples += static_cast<double>(result.rows);
  if (result.update == StepResult::Update::applied) {
    since_.loss += result.loss * result.count;
    since_.count += result.count;
  } else {
    ++since_.skipped;
  }
  since_.data_seconds += result.data_seconds;
  since_.reduce_seconds += result.reduce_seconds;
  since_.seconds += result.data_seconds + result.compute_seconds + result.reduce_seconds + result.update_seconds;
  noise_.observe(result);
  last_ = result;
  if (progress.step == length_.steps || progress.step % context_.config.metrics.every == 0) write(progress);
}

void Recorder::write(const Progress& progress) {
  if (!metrics_.empty()) since_.metrics.reduce(context_.channels.control);
  const double data_wait = since_.data_seconds / since_.seconds;
  MetricRecord record = new_record(RecordKind::train, progress);
  record.values = {{"loss", since_.loss / since_.count},
                   {"lr", last_.lr},
                   {"global_batch", static_cast<double>(progress.global_batch), Shown::in_files},
                   {"grad_norm", last_.grad_norm, Shown::in_files},
                   {"samples_per_second", since_.samples / since_.seconds, Shown::in_files},
                   {"data_wait_share", data_wait, data_wait > kWorthTelling ? Shown::always : Shown::in_files},
                   {"reduce_wait_share", since_.reduce_seconds / since_.seconds, Shown::in_files},
                   {"skipped_steps", since_.skipped, since_.skipped > 0 ? Shown::always : Shown::in_files}};
  for (Metric& metric : noise_.take_metrics()) record.values.push_back(std::move(metric));
  for (Metric& metric : since_.metrics.values()) record.values.push_back(std::move(metric));
  hub_->write(record);
  since_ = {};
}

void Recorder::record_evaluation(const Progress& progress, const Tally& evaluation) {
  MetricRecord record = new_record(RecordKind::valid, progress);
  record.values = evaluation.values();
  hub_->write(record);
}

void Recorder::finish(const Progress& progress, std::string_view text) {
  if (since_.samples > 0) write(progress);  // a run that ended between two records
  if (const std::string advice = noise_.advice(progress.global_batch); samples_ > 0 && !advice.empty()) {
    context_.log.info("trainer", advice);
    record_event(progress, advice, Shown::in_files);
  }
  record_event(progress, text);
  hub_->flush();
}

MetricRecord Recorder::new_record(RecordKind kind, const Progress& progress) const {
  return {.kind = kind,
          .step = progress.step,
          .epoch = progress.epoch,
          .samples = progress.samples,
          .time = std::chrono::system_clock::now()};
}

double monitored_value(const Tally& evaluation, std::string_view monitor) {
  constexpr std::string_view kPrefix = "valid/";
  std::string known;
  for (const Metric& metric : evaluation.values()) {
    if (monitor == text(kPrefix, metric.name)) return metric.value;
    known += text(known.empty() ? "" : ", ", kPrefix, metric.name);
  }
  throw on_all_ranks(ConfigError(text("train.monitor: no metric \"", monitor, "\"; there is: ", known)));
}

}  // namespace ddpkit
