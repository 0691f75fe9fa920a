#include "ddpkit/config/load_config.hpp"

#include <chrono>
#include <sstream>
#include <string>

#include "ddpkit/base/error.hpp"
#include "support/catch.hpp"
#include "unit/config/run_file.hpp"

using namespace ddpkit;
using namespace ddpkit::test;
using namespace std::chrono_literals;

namespace {

std::size_t count_lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
}

}  // namespace

TEST_CASE("a run file sets every kind of field") {
  const RunConfig config = load(R"(
run: {name: fashion-mlp, seed: 7, epochs: 1e1}
data:
  train: {format: idx, path: "/data set"}
  transform: {mean: [0.25, 0.5], std: [0.1, 0.2]}
  prefetch: 8 MiB
batch: {global: 512, micro: 32, accumulate: auto}
optimizer:
  nesterov: true
  momentum: 0.9
  groups:
    - {match: "*.bias", weight_decay: 0}
    - {match: head.*, lr_factor: 10}
schedule: {warmup: 5%, decay: multi_step, milestones: [30 epochs, 60 epochs]}
comm: {backend: local, timeout: 2m, bucket_mib: 4, overlap: off}
user: {hidden: 128}
)")
                               .config;
  CHECK(config.run.name == "fashion-mlp");
  CHECK(config.run.epochs == 10);
  CHECK(config.data.train.path == "/data set");
  CHECK(config.data.train.format == DataFormat::idx);
  CHECK(config.data.transform.std == std::vector<double>{0.1, 0.2});
  CHECK(config.data.prefetch.count == 8 << 20);
  CHECK(config.batch.micro == 32);
  CHECK_FALSE(config.batch.accumulate.has_value());
  CHECK(config.optimizer.nesterov);
  REQUIRE(config.optimizer.groups.size() == 2);
  CHECK(config.optimizer.groups[0].weight_decay == 0.0);
  CHECK_FALSE(config.optimizer.groups[1].weight_decay.has_value());
  CHECK(config.optimizer.groups[1].lr_factor == 10);
  CHECK(config.schedule.warmup == Extent{5, Extent::Unit::percent});
  CHECK(config.schedule.milestones[1] == Extent{60, Extent::Unit::epochs});
  CHECK(config.comm.backend == Backend::local);
  CHECK(config.comm.timeout == 2min);
  CHECK(config.reducer.bucket_mib == 4);
  CHECK(config.reducer.overlap == Overlap::off);
  CHECK(config.user("hidden", 256) == 128);
}

TEST_CASE("no file, an empty file and an empty section are the defaults") {
  CHECK(load_config({}).config.batch.global == 256);
  CHECK(load("").config.batch.global == 256);
  CHECK(load("batch:\n  # global: 512\n").config.batch.global == 256);
}

TEST_CASE("later layers win and every value knows its origin") {
  RunConfig program;
  program.batch.global = 64;
  program.optimizer.lr = 0.5;
  program.run.seed = 3;
  const LoadedConfig loaded = load("batch: {global: 128}\noptimizer:\n  lr: 0.25\n", {"batch.global=32"}, program);
  CHECK(loaded.config.batch.global == 32);
  CHECK(loaded.config.optimizer.lr == 0.25);
  CHECK(loaded.config.run.seed == 3);
  CHECK(loaded.origins.of("batch.global") == "--set");
  CHECK(std::string(loaded.origins.of("optimizer.lr")).ends_with("run.yaml:3:7"));
  CHECK(loaded.origins.of("run.seed") == "program");
  CHECK(loaded.origins.of("run.epochs") == "default");
  CHECK(loaded.origins.given("run.seed"));
  CHECK_FALSE(loaded.origins.given("run.epochs"));
}

TEST_CASE("a list replaces the list of the layer below, with its origins") {
  RunConfig program;
  program.optimizer.groups = {{.match = "a"}, {.match = "b"}};
  const LoadedConfig loaded = load("", {"optimizer.groups=[{match: c}]"}, program);
  REQUIRE(loaded.config.optimizer.groups.size() == 1);
  CHECK(loaded.origins.of("optimizer.groups[0].match") == "--set");
  CHECK(loaded.origins.of("optimizer.groups[1].match") == "default");
}

TEST_CASE("an override may be a list, a section or an empty text, and the last one wins") {
  const RunConfig config =
      load("run: {resume: latest}", {"schedule.decay=multi_step", "schedule.milestones=[10 steps, 20 steps]",
                                     "batch={global: 8, micro: 2}", "run.resume=", "batch.global=16"})
          .config;
  CHECK(config.schedule.milestones.size() == 2);
  CHECK(config.batch.global == 16);
  CHECK(config.batch.micro == 2);
  CHECK(config.run.resume.empty());
}

TEST_CASE("a number must be a bare number: true, quotes, zero and minus one are refused by name and place") {
  const std::string range = "comm.bucket_mib: expected a whole number from 1 to 1048576, got ";
  CHECK(complaint("comm: {bucket_mib: true}") == "run.yaml:1:20: " + range + "true");
  CHECK(complaint("comm: {bucket_mib: \"25\"}") == "run.yaml:1:20: " + range + "\"25\", which is a text because of its quotes");
  CHECK(complaint("comm: {bucket_mib: 0}") == "run.yaml:1:20: " + range + "0");
  CHECK(complaint("comm: {bucket_mib: -1}") == "run.yaml:1:20: " + range + "-1");
}

TEST_CASE("an unknown key is told with the nearest name, or with where it belongs") {
  CHECK(complaint("batch: {globl: 1}") == "run.yaml:1:9: batch.globl: unknown key; did you mean 'global'?");
  CHECK(complaint("btach: {global: 1}") == "run.yaml:1:1: btach: unknown key; did you mean 'batch'?");
  CHECK(complaint("lr: 1") == "run.yaml:1:1: lr: unknown key; did you mean 'optimizer.lr'?");
  CHECK(complaint("batch: {xylophone: 1}") ==
        "run.yaml:1:9: batch.xylophone: unknown key; valid here: global, micro, accumulate, max_micro, schedule, growth, "
        "shrink");
  CHECK(complaint("", {"batch.globl=1"}) == "--set batch.globl=1: batch.globl: unknown key; did you mean 'global'?");
}

TEST_CASE("wrong shapes are told as what they are") {
  CHECK(complaint("batch: {global: [1]}") == "run.yaml:1:17: batch.global: expected a whole number of at least 1, got a list");
  CHECK(complaint("batch: {global: {}}") ==
        "run.yaml:1:17: batch.global: expected a whole number of at least 1, got a mapping");
  CHECK(complaint("batch: {global: }") == "run.yaml:1:17: batch.global: expected a whole number of at least 1, got nothing");
  CHECK(complaint("batch: 5") == "run.yaml:1:8: batch: expected a mapping of keys to values, got 5");
  CHECK(complaint("[batch]") == "run.yaml:1:1: expected a mapping of keys to values, got a list");
  CHECK(complaint("schedule: {milestones: 5}") == "run.yaml:1:24: schedule.milestones: expected a list such as [a, b], got 5");
  CHECK(complaint("run: {dir: ~}") == "run.yaml:1:12: run.dir: expected a text, got nothing");
  CHECK(complaint("user: {a: [1]}") == "run.yaml:1:11: user.a: expected a single value, got a list");
}

TEST_CASE("names, units, booleans and auto are told with what would do") {
  CHECK(complaint("data: {tail: dorp}") ==
        "run.yaml:1:14: data.tail: expected one of drop, pad, partial, got dorp; did you mean 'drop'?");
  CHECK(complaint("comm: {timeout: 120}") ==
        "run.yaml:1:17: comm.timeout: expected a duration such as 120s (units: ms, s, m, h), got 120");
  CHECK(complaint("comm: {timeout: 0s}") == "run.yaml:1:17: comm.timeout: expected a duration of at least 1ms, got 0s");
  CHECK(complaint("data: {prefetch: 64MB}") ==
        "run.yaml:1:18: data.prefetch: expected a size such as 25MiB (units: B, KiB, MiB, GiB, TiB), got 64MB");
  CHECK(complaint("schedule: {warmup: 500}") ==
        "run.yaml:1:20: schedule.warmup: expected a stretch such as '500 steps', '5 epochs', '5%' or 0, got 500");
  CHECK(complaint("metrics: {jsonl: yes}") == "run.yaml:1:18: metrics.jsonl: expected true or false, got yes; write true");
  CHECK(complaint("batch: {micro: atuo}") ==
        "run.yaml:1:16: batch.micro: expected a whole number of at least 1 or auto, got atuo");
  CHECK(complaint("optimizer: {lr: .inf}") == "run.yaml:1:17: optimizer.lr: expected a number of at least 0, got .inf");
  CHECK(complaint("run: {seed: 010}") ==
        "run.yaml:1:13: run.seed: expected a whole number without leading zeros of at least 0, got 010");
}

TEST_CASE("errors inside lists of sections name the element") {
  CHECK(complaint("optimizer:\n  groups:\n    - {match: a}\n    - {match: b, lr_factor: -1, wd: 1}\n") ==
        "run.yaml:4:29: optimizer.groups[1].lr_factor: expected a number of at least 0, got -1\n"
        "run.yaml:4:33: optimizer.groups[1].wd: unknown key; valid here: match, lr_factor, weight_decay");
}

TEST_CASE("all errors of file and overrides come in one pass, in the order of the file") {
  const std::string all = complaint("step: {clip_norm: -1}\nbatch: {global: x, micro: 0}\nrun: {epocs: 1}\n",
                                    {"optimizer.lr=fast", "nonsense", "data.tail="});
  CHECK(all ==
        "run.yaml:1:19: step.clip_norm: expected a number of at least 0, got -1\n"
        "run.yaml:2:17: batch.global: expected a whole number of at least 1, got x\n"
        "run.yaml:2:27: batch.micro: expected a whole number of at least 1 or auto, got 0\n"
        "run.yaml:3:7: run.epocs: unknown key; did you mean 'epochs'?\n"
        "--set optimizer.lr=fast: optimizer.lr: expected a number of at least 0, got fast\n"
        "--set nonsense: expected key.path=value\n"
        "--set data.tail=: data.tail: expected one of drop, pad, partial, got \"\"");
}

TEST_CASE("at most fifty errors are shown, the rest is counted") {
  std::ostringstream yaml;
  for (int i = 0; i < 60; ++i) yaml << "nobody" << i << ": 1\n";
  const std::string all = complaint(yaml.str());
  CHECK(count_lines(all) == 51);
  CHECK(all.ends_with("\nand 10 more"));
}

TEST_CASE("fields that do not fit together are reported with the origin of the one to change") {
  CHECK(complaint("optimizer: {nesterov: true}") ==
        "run.yaml:1:23: optimizer.nesterov: needs optimizer.momentum above 0, got 0");
  CHECK(complaint("batch: {micro: 7}") == "run.yaml:1:16: batch.global: expected a multiple of batch.micro (7), got 256");
  CHECK(complaint("", {"batch.micro=7"}) == "--set: batch.global: expected a multiple of batch.micro (7), got 256");
}

TEST_CASE("a field that was refused draws no follow-up errors") {
  CHECK(complaint("optimizer: {nesterov: true, momentum: x}") ==
        "run.yaml:1:39: optimizer.momentum: expected a number from 0 to 1, got x");
}

TEST_CASE("a default of the program that is out of range is the program's error") {
  RunConfig program;
  program.batch.global = 0;
  CHECK(complaint("", {}, program) == "program: batch.global: expected a whole number of at least 1, got 0");
  program.batch.global = 1;
  program.optimizer.lr = std::numeric_limits<double>::quiet_NaN();
  CHECK(complaint("", {}, program).starts_with("program: optimizer.lr: expected a finite number"));
}

TEST_CASE("a file that cannot be read is a storage error that names it") {
  for (const std::string path : {"/nowhere/run.yaml", "/"}) {
    try {
      load_config({.file = path});
      FAIL("read " << path);
    } catch (const StorageError& error) {
      CHECK(std::string(error.what()).starts_with(path + ": the run file cannot be read: "));
    }
  }
}
