#include "ddpkit/config/check.hpp"

#include <utility>

#include "config/field_tree.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/schedule/preset.hpp"

namespace ddpkit {
namespace {

using Paths = std::vector<std::string>;

class Findings {
 public:
  void when(bool wrong, Paths paths, std::string message) {
    if (wrong) all.push_back({std::move(paths), std::move(message)});
  }

  std::vector<Finding> all;
};

void check_run(const RunOptions& run, Findings& findings) {
  findings.when(run.name.empty() || run.name.find('/') != std::string::npos || run.name == "..", {"run.name"},
                "expected the name of a folder, without slashes, got " + yaml_text(run.name));
  findings.when(run.dir.empty(), {"run.dir"}, "expected a folder, got nothing; write . for the working directory");
  findings.when(!run.resume.empty() && !run.init_from.empty(), {"run.init_from", "run.resume"},
                "a resumed run has its weights from the checkpoint; give either run.resume or run.init_from");
}

void check_source(const std::string& path, const SourceOptions& source, Findings& findings) {
  const bool none = source.format == DataFormat::none;
  findings.when(!none && source.path.empty(), {path + ".path", path + ".format"},
                text("the format ", name_of(source.format), " needs a path"));
  findings.when(none && !source.path.empty(), {path + ".format", path + ".path"},
                text("a path needs a format: idx, cifar10, npy or csv"));
}

void check_data(const DataOptions& data, Findings& findings) {
  check_source("data.train", data.train, findings);
  check_source("data.valid", data.valid, findings);
  const std::size_t means = data.transform.mean.size();
  const std::size_t deviations = data.transform.std.size();
  findings.when(means != deviations, {"data.transform.std", "data.transform.mean"},
                text("expected one value per channel like data.transform.mean, which has ", means, ", got ", deviations));
}

/// Values on different clocks are not compared.
bool ascend(const Extent& before, const Extent& after) {
  return before.unit != after.unit || before.amount < after.amount;
}

bool ascend(const std::vector<Extent>& milestones) {
  for (std::size_t i = 1; i < milestones.size(); ++i)
    if (!ascend(milestones[i - 1], milestones[i])) return false;
  return true;
}

void check_batch(const BatchOptions& batch, Findings& findings) {
  const std::int64_t micro = batch.micro.value_or(1);
  const std::int64_t accumulate = batch.accumulate.value_or(1);
  const bool fits = micro <= batch.global / accumulate && batch.global % (micro * accumulate) == 0;
  const std::string factor = !batch.accumulate ? "batch.micro"
                             : !batch.micro    ? "batch.accumulate"
                                               : "batch.micro x batch.accumulate";
  const std::string size = fits || micro <= batch.global / accumulate ? text(" (", micro * accumulate, ")") : "";
  findings.when(!fits, {"batch.global", "batch.micro", "batch.accumulate"},
                text("expected a multiple of ", factor, size, ", got ", batch.global));
  findings.when(micro > batch.max_micro.value_or(micro), {"batch.max_micro", "batch.micro"},
                text("expected at least batch.micro (", micro, "), got ", batch.max_micro.value_or(0)));
}

void check_batch_rows(const std::vector<BatchChange>& rows, Findings& findings) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string at = item_path("batch.schedule", i) + ".at";
    const bool percent = rows[i].at.unit == Extent::Unit::percent;
    findings.when(percent && rows[i].at.amount >= 100, {at, "batch.schedule"},
                  text("expected less than the whole run, got ", rows[i].at.amount, "%"));
    findings.when(i > 0 && !ascend(rows[i - 1].at, rows[i].at), {at, "batch.schedule"},
                  text("expected a row after the one before, which is at ", format_scalar(rows[i - 1].at), ", got ",
                       format_scalar(rows[i].at)));
  }
}

/// `lr: scale` would do nothing without a rule to scale by.
void check_rate_change(RateChange lr, const std::string& path, Scaling scaling, Findings& findings) {
  findings.when(lr == RateChange::scale && scaling == Scaling::none, {path, "schedule.scaling"},
                "scale needs schedule.scaling: linear or sqrt; hold keeps the rate");
}

void check_batch_changes(const BatchOptions& batch, Scaling scaling, Findings& findings) {
  const bool table = !batch.schedule.empty();
  const bool grows = batch.growth.by != GrowthBy::none;
  const bool shrinks = batch.shrink.oscillations > 0;
  findings.when(table && grows, {"batch.growth.by", "batch.schedule"},
                "batch.schedule says already when the batch changes; give one of the two");
  findings.when(shrinks && (table || grows), {"batch.shrink.oscillations", table ? "batch.schedule" : "batch.growth.by"},
                text("needs the batch for itself, and ", table ? "batch.schedule" : "batch.growth", " changes it too; set 0"));
  findings.when(grows && batch.growth.max > 0 && batch.growth.max < batch.global, {"batch.growth.max", "batch.global"},
                text("expected at least batch.global, ", batch.global, ", or 0 for no limit, got ", batch.growth.max));
  findings.when(shrinks && batch.shrink.min > batch.global, {"batch.shrink.min", "batch.global"},
                text("expected at most batch.global, ", batch.global, ", got ", batch.shrink.min));
  check_batch_rows(batch.schedule, findings);
  for (std::size_t i = 0; i < batch.schedule.size(); ++i)
    check_rate_change(batch.schedule[i].lr, item_path("batch.schedule", i) + ".lr", scaling, findings);
  if (grows) check_rate_change(batch.growth.lr, "batch.growth.lr", scaling, findings);
  if (shrinks) check_rate_change(batch.shrink.lr, "batch.shrink.lr", scaling, findings);
}

void check_optimizer(const OptimizerOptions& optimizer, Findings& findings) {
  const bool sgd = optimizer.name == OptimizerKind::sgd;
  const std::string only_sgd = text("only sgd has it, and optimizer.name is ", name_of(optimizer.name));
  findings.when(!sgd && optimizer.momentum != 0, {"optimizer.momentum", "optimizer.name"}, only_sgd);
  findings.when(!sgd && optimizer.dampening != 0, {"optimizer.dampening", "optimizer.name"}, only_sgd);
  findings.when(!sgd && optimizer.nesterov, {"optimizer.nesterov", "optimizer.name"}, only_sgd);
  findings.when(sgd && optimizer.nesterov && optimizer.momentum == 0, {"optimizer.nesterov", "optimizer.momentum"},
                "needs optimizer.momentum above 0, got 0");
  findings.when(sgd && optimizer.nesterov && optimizer.dampening != 0, {"optimizer.nesterov", "optimizer.dampening"},
                text("needs optimizer.dampening 0, got ", optimizer.dampening));
  findings.when(optimizer.beta1 == 1, {"optimizer.beta1"}, "expected a number below 1, got 1");
  findings.when(optimizer.beta2 == 1, {"optimizer.beta2"}, "expected a number below 1, got 1");
  for (std::size_t i = 0; i < optimizer.groups.size(); ++i) {
    const std::string group = item_path("optimizer.groups", i);
    findings.when(optimizer.groups[i].match.empty(), {group + ".match", "optimizer.groups"},
                  "expected a pattern of parameter names such as backbone.*, got nothing");
  }
}

void check_schedule(const ScheduleOptions& schedule, Findings& findings) {
  const bool preset = schedule.preset != SchedulePreset::none;  // brings what is left out
  const bool multi_step = schedule.decay == Decay::multi_step;
  const bool periodic =
      schedule.decay == Decay::step || schedule.decay == Decay::cosine_restarts || schedule.decay == Decay::warmup_stable_decay;
  findings.when(!preset && multi_step && schedule.milestones.empty(), {"schedule.milestones", "schedule.decay"},
                "the decay multi_step needs at least one, such as [30 epochs, 60 epochs]");
  findings.when(!preset && !multi_step && !schedule.milestones.empty(), {"schedule.milestones", "schedule.decay"},
                text("only the decay multi_step has them, and schedule.decay is ", name_of(schedule.decay)));
  findings.when(!ascend(schedule.milestones), {"schedule.milestones"}, "expected rising values");
  findings.when(!preset && periodic && schedule.period.amount == 0, {"schedule.period", "schedule.decay"},
                text("the decay ", name_of(schedule.decay), " needs a period above 0"));
}

}  // namespace

std::vector<Finding> check(const RunConfig& config) {
  Findings findings;
  check_run(config.run, findings);
  check_data(config.data, findings);
  check_batch(config.batch, findings);
  check_batch_changes(config.batch, apply_preset(config.schedule).scaling, findings);
  findings.when(config.batch.shrink.oscillations > 0 && config.train.evaluate_every.amount == 0,
                {"batch.shrink.oscillations", "train.evaluate_every"},
                "looks at evaluations during training, and train.evaluate_every is 0; set it to 1 epoch, for example");
  check_optimizer(config.optimizer, findings);
  check_schedule(config.schedule, findings);
  return std::move(findings.all);
}

}  // namespace ddpkit
