#include "ddpkit/config/print_config.hpp"

#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "ddpkit/config/check.hpp"
#include "support/catch.hpp"
#include "unit/config/run_file.hpp"

using namespace ddpkit;
using namespace ddpkit::test;

namespace {

// A visitor that gives every field some legal value.
class Scrambler {
 public:
  explicit Scrambler(unsigned seed) : random_(seed) {}

  void operator()(std::string_view, bool& value, std::string_view, const Range& = {}) { value = random_() % 2 == 0; }
  void operator()(std::string_view, std::int64_t& value, std::string_view, const Range& range = {}) {
    value = static_cast<std::int64_t>(number(range));
  }
  void operator()(std::string_view, double& value, std::string_view, const Range& range = {}) { value = number(range); }
  void operator()(std::string_view, std::string& value, std::string_view, const Range& = {}) { value = word(); }
  void operator()(std::string_view, Bytes& value, std::string_view, const Range&) { value.count = 1 + below(1 << 30); }
  void operator()(std::string_view, Extent& value, std::string_view, const Range&) {  // never 0, which some refuse
    value = {static_cast<double>(1 + below(99)), static_cast<Extent::Unit>(below(3))};
  }
  void operator()(std::string_view, std::chrono::milliseconds& value, std::string_view, const Range&) {
    value = std::chrono::milliseconds(1 + below(1 << 30));
  }
  template <NamedEnum E>
  void operator()(std::string_view, E& value, std::string_view, const Range& = {}) {
    const auto names = enum_names(value);
    value = names[random_() % names.size()].first;
  }
  template <class T>
  void operator()(std::string_view name, std::optional<T>& value, std::string_view help, const Range& range) {
    value.reset();
    if (random_() % 2 == 0) return;
    (*this)(name, value.emplace(), help, range);
  }
  template <class T>
  void operator()(std::string_view name, std::vector<T>& values, std::string_view help, const Range& range = {}) {
    values.assign(below(4), T{});
    for (T& value : values) (*this)(name, value, help, range);
  }
  template <FieldStruct T>
  void operator()(std::string_view, T& section, std::string_view, const Range& = {}) {
    visit_fields(*this, section);
  }
  void operator()(std::string_view, UserSettings& user, std::string_view) {
    for (std::int64_t i = below(4); i > 0; --i) user.set(word(), word());
  }

 private:
  std::int64_t below(std::int64_t bound) { return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(bound)); }

  double number(const Range& range) {
    const double span = std::min(range.max, 1e6) - std::max(range.min, 0.0);
    return std::max(range.min, 0.0) + (1 - std::uniform_real_distribution<double>()(random_)) * span;
  }

  std::string word() {
    static const std::string kSpice[] = {"a",  "true", "~", "null", "off", "010", "1e3", ": ", " #x", "\"",   "'",    "\\",
                                         "\n", "\t",   "é", "- ",   "{",   "]",   "%",   "@",  "",    "\x01", "auto", " "};
    std::string made = kSpice[random_() % std::size(kSpice)];
    for (std::int64_t i = below(3); i > 0; --i) made += kSpice[random_() % std::size(kSpice)];
    return made.empty() ? "x" : made;
  }

  std::mt19937_64 random_;
};

// Takes back what is legal by itself and does not fit with the rest.
void make_fit(RunConfig& config) {
  config.run.name = "run";
  config.run.init_from.clear();
  config.batch.global = config.batch.micro.value_or(1) * config.batch.accumulate.value_or(1);
  if (config.batch.max_micro) config.batch.max_micro = std::max(*config.batch.max_micro, config.batch.micro.value_or(1));
  config.batch.growth.by = GrowthBy::none;
  config.batch.growth.every.amount += 1;
  config.batch.shrink.oscillations = 0;
  for (std::size_t i = 0; i < config.batch.schedule.size(); ++i) {
    config.batch.schedule[i].at = {static_cast<double>(i + 1), Extent::Unit::epochs};
    config.batch.schedule[i].lr = RateChange::hold;
  }
  config.data.train.format = DataFormat::csv;
  config.data.valid.format = DataFormat::npy;
  config.data.transform.std = std::vector<double>(config.data.transform.mean.size(), 1.0 / 3);
  config.optimizer.nesterov = false;
  if (config.optimizer.name != OptimizerKind::sgd) config.optimizer.momentum = config.optimizer.dampening = 0;
  config.schedule.milestones.clear();
  if (config.schedule.decay == Decay::multi_step) config.schedule.milestones = {{1, Extent::Unit::epochs}};
  config.schedule.period.amount += 1;
}

std::string as_text(const std::vector<Fact>& facts) {
  std::string all;
  for (const Fact& fact : facts) all += fact.name + " = " + fact.value + "\n";
  return all;
}

}  // namespace

TEST_CASE("what is printed loads back to the same values") {
  for (unsigned seed = 0; seed < 200; ++seed) {
    RunConfig config;
    Scrambler scramble(seed);
    visit_fields(scramble, config);
    make_fit(config);
    REQUIRE(check(config).empty());
    const std::string printed = print_config(config);
    CAPTURE(seed, printed);
    CHECK(as_text(config_facts(load(printed).config)) == as_text(config_facts(config)));
  }
}

TEST_CASE("real numbers are printed to the last bit") {
  RunConfig config;
  config.optimizer.lr = std::nextafter(0.1, 1);
  const double back = load(print_config(config)).config.optimizer.lr;
  CHECK(std::bit_cast<std::uint64_t>(back) == std::bit_cast<std::uint64_t>(config.optimizer.lr));
}

TEST_CASE("printing with origins names where each value came from and still loads") {
  const LoadedConfig loaded = load("batch: {global: 512}\noptimizer: {groups: [{match: x}]}", {"run.seed=3"});
  const std::string printed = print_config(loaded);
  CHECK(printed.find("  global: 512                           # /") != std::string::npos);
  CHECK(printed.find("run.yaml:1:17\n") != std::string::npos);
  CHECK(printed.find("  seed: 3                               # --set\n") != std::string::npos);
  CHECK(printed.find("  epochs: 1                             # default\n") != std::string::npos);
  CHECK(printed.find("    - match: x ") != std::string::npos);
  CHECK(as_text(config_facts(load(printed).config)) == as_text(config_facts(loaded.config)));
}

TEST_CASE("the JSON document has typed values and the origin of each") {
  const auto document = nlohmann::json::parse(
      config_json(load("batch: {global: 512}", {"optimizer.groups=[{match: x, weight_decay: 0.5}]", "user.hidden=3"})));
  CHECK(document["config"]["batch"]["global"] == 512);
  CHECK(document["config"]["batch"]["micro"] == "auto");
  CHECK(document["config"]["metrics"]["jsonl"] == true);
  CHECK(document["config"]["comm"]["timeout"] == "120s");
  CHECK(document["config"]["optimizer"]["groups"][0]["weight_decay"] == 0.5);
  CHECK(document["config"]["user"]["hidden"] == "3");
  CHECK(document["origins"]["optimizer.groups[0].match"] == "--set");
  CHECK(document["origins"]["run.seed"] == "default");
}

TEST_CASE("two configurations have equal facts when, and only when, every value is equal") {
  RunConfig a;
  RunConfig b;
  CHECK(as_text(config_facts(a)) == as_text(config_facts(b)));
  b.reducer.bucket_mib = 26;
  CHECK(as_text(config_facts(a)) != as_text(config_facts(b)));
  CHECK(as_text(config_facts(b)).find("comm.bucket_mib = 26\n") != std::string::npos);
}
