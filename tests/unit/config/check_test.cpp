#include "ddpkit/config/check.hpp"

#include <string>

#include "support/catch.hpp"

using namespace ddpkit;

namespace {

// The path of the only finding; "" when everything fits, "several" otherwise.
std::string finding(const RunConfig& config) {
  const auto findings = check(config);
  if (findings.empty()) return "";
  return findings.size() == 1 ? findings.front().paths.front() : "several";
}

std::string finding(const OptimizerOptions& optimizer) {
  return finding(RunConfig{.optimizer = optimizer});
}
std::string finding(const BatchOptions& batch) {
  return finding(RunConfig{.batch = batch});
}
std::string finding(const ScheduleOptions& schedule) {
  return finding(RunConfig{.schedule = schedule});
}

}  // namespace

TEST_CASE("the defaults fit together") {
  CHECK(finding(RunConfig{}) == "");
}

TEST_CASE("Nesterov's momentum needs momentum and no dampening") {
  CHECK(finding(OptimizerOptions{.momentum = 0.9, .nesterov = true}) == "");
  CHECK(finding(OptimizerOptions{.nesterov = true}) == "optimizer.nesterov");
  CHECK(finding(OptimizerOptions{.momentum = 0.9, .dampening = 0.1, .nesterov = true}) == "optimizer.nesterov");
}

TEST_CASE("settings of sgd are refused for the other optimizers instead of being ignored") {
  CHECK(finding(OptimizerOptions{.name = OptimizerKind::adamw, .momentum = 0.9}) == "optimizer.momentum");
  CHECK(finding(OptimizerOptions{.name = OptimizerKind::adam, .nesterov = true}) == "optimizer.nesterov");
  CHECK(finding(OptimizerOptions{.name = OptimizerKind::adam, .dampening = 0.5}) == "optimizer.dampening");
}

TEST_CASE("a moment that never forgets is refused") {
  CHECK(finding(OptimizerOptions{.beta1 = 1}) == "optimizer.beta1");
  CHECK(finding(OptimizerOptions{.beta2 = 1}) == "optimizer.beta2");
}

TEST_CASE("a group without a pattern is refused") {
  CHECK(finding(OptimizerOptions{.groups = {{.match = "a"}, {}}}) == "optimizer.groups[1].match");
}

TEST_CASE("the global batch is a multiple of micro x accumulate") {
  CHECK(finding(BatchOptions{.global = 12, .micro = 3, .accumulate = 2}) == "");
  CHECK(finding(BatchOptions{.global = 12, .micro = 5}) == "batch.global");
  CHECK(finding(BatchOptions{.global = 12, .accumulate = 8}) == "batch.global");
  CHECK(finding(BatchOptions{.global = 12, .micro = 4, .accumulate = 2}) == "batch.global");
  const std::int64_t huge = std::int64_t{1} << 40;
  CHECK(finding(BatchOptions{.global = 12, .micro = huge, .accumulate = huge}) == "batch.global");
}

TEST_CASE("a micro-batch is not above its own limit") {
  CHECK(finding(BatchOptions{.global = 12, .micro = 3, .max_micro = 3}) == "");
  CHECK(finding(BatchOptions{.global = 12, .micro = 3, .max_micro = 2}) == "batch.max_micro");
  CHECK(finding(BatchOptions{.global = 12, .max_micro = 2}) == "");
}

TEST_CASE("a batch changes by one rule at a time") {
  const std::vector<BatchChange> table{{.at = {1, Extent::Unit::epochs}, .global = 512}};
  const GrowthOptions growth{.by = GrowthBy::geometric};
  const ShrinkOptions shrink{.oscillations = 2, .lr = RateChange::hold};
  CHECK(finding(BatchOptions{.schedule = table}) == "");
  CHECK(finding(BatchOptions{.growth = growth}) == "");
  CHECK(finding(BatchOptions{.shrink = shrink}) == "");
  CHECK(finding(BatchOptions{.schedule = table, .growth = growth}) == "batch.growth.by");
  CHECK(finding(BatchOptions{.schedule = table, .shrink = shrink}) == "batch.shrink.oscillations");
  CHECK(finding(BatchOptions{.growth = growth, .shrink = shrink}) == "batch.shrink.oscillations");
}

TEST_CASE("the rows of a batch schedule rise within the run") {
  using enum Extent::Unit;
  const auto rows = [](Extent first, Extent second) {
    return finding(BatchOptions{.schedule = {{.at = first, .global = 512}, {.at = second, .global = 1024}}});
  };
  CHECK(rows({1, epochs}, {2, epochs}) == "");
  CHECK(rows({1000, steps}, {2, epochs}) == "");  // who knows
  CHECK(rows({2, epochs}, {2, epochs}) == "batch.schedule[1].at");
  CHECK(rows({500, steps}, {20, steps}) == "batch.schedule[1].at");
  CHECK(rows({50, percent}, {100, percent}) == "batch.schedule[1].at");
}

TEST_CASE("a rate that follows the batch needs a rule to follow it by") {
  RunConfig config;
  config.batch.schedule = {{.at = {1, Extent::Unit::epochs}, .global = 512, .lr = RateChange::scale}};
  CHECK(finding(config) == "batch.schedule[0].lr");
  config.schedule.scaling = Scaling::square_root;
  CHECK(finding(config) == "");
  config.schedule = {.preset = SchedulePreset::goyal_imagenet};
  CHECK(finding(config) == "");
  CHECK(finding(BatchOptions{.growth = {.by = GrowthBy::noise_scale, .lr = RateChange::scale}}) == "batch.growth.lr");
  CHECK(finding(BatchOptions{.shrink = {.oscillations = 1}}) == "batch.shrink.lr");
}

TEST_CASE("halving needs evaluations to look at") {
  RunConfig config;
  config.batch.shrink = {.oscillations = 3, .lr = RateChange::hold};
  CHECK(finding(config) == "");
  config.train.evaluate_every.amount = 0;
  CHECK(finding(config) == "batch.shrink.oscillations");
}

TEST_CASE("the limits of growing and halving lie on the right side of the batch") {
  CHECK(finding(BatchOptions{.global = 64, .growth = {.by = GrowthBy::geometric, .max = 32}}) == "batch.growth.max");
  CHECK(finding(BatchOptions{.global = 64, .shrink = {.oscillations = 1, .min = 65, .lr = RateChange::hold}}) ==
        "batch.shrink.min");
}

TEST_CASE("normalisation has as many deviations as means") {
  RunConfig config;
  config.data.transform = {.mean = {1, 2}, .std = {1}};
  CHECK(finding(config) == "data.transform.std");
}

TEST_CASE("a data set has a format and a path, or neither") {
  RunConfig config;
  config.data.train.format = DataFormat::idx;
  CHECK(finding(config) == "data.train.path");
  config.data.train.path = "x";
  CHECK(finding(config) == "");
  config.data.train.format = DataFormat::none;
  CHECK(finding(config) == "data.train.format");
}

TEST_CASE("decays have what they need and nothing that they ignore") {
  const Extent ten{10, Extent::Unit::epochs};
  const Extent five{5, Extent::Unit::epochs};
  CHECK(finding(ScheduleOptions{.decay = Decay::multi_step}) == "schedule.milestones");
  CHECK(finding(ScheduleOptions{.decay = Decay::multi_step, .milestones = {five, ten}}) == "");
  CHECK(finding(ScheduleOptions{.decay = Decay::multi_step, .milestones = {ten, five}}) == "schedule.milestones");
  CHECK(finding(ScheduleOptions{.decay = Decay::cosine, .milestones = {five}}) == "schedule.milestones");
  CHECK(finding(ScheduleOptions{.decay = Decay::step}) == "schedule.period");
  CHECK(finding(ScheduleOptions{.decay = Decay::cosine_restarts, .period = five}) == "");
  CHECK(finding(ScheduleOptions{.preset = SchedulePreset::goyal_imagenet}) == "");
}

TEST_CASE("the name of a run is the name of a folder") {
  for (const char* name : {"", "a/b", ".."}) CHECK(finding(RunConfig{.run = {.name = name}}) == "run.name");
  CHECK(finding(RunConfig{.run = {.dir = ""}}) == "run.dir");
}

TEST_CASE("a resumed run takes no initial weights") {
  CHECK(finding(RunConfig{.run = {.resume = "latest", .init_from = "w.safetensors"}}) == "run.init_from");
}
