#include <array>
#include <random>
#include <string>

#include "ddpkit/base/error.hpp"
#include "ddpkit/config/load_config.hpp"
#include "ddpkit/config/print_config.hpp"
#include "support/catch.hpp"
#include "unit/config/run_file.hpp"

using namespace ddpkit;
using namespace ddpkit::test;

namespace {

constexpr int kMutations = 2000;

const std::array<std::string, 2> kValid{R"(run: {name: fashion-mlp, seed: 7, epochs: 5, dir: runs}
data: {train: {format: idx, path: "/data"}, valid: {format: idx, path: '/data'}}
batch: {global: 512, micro: auto, accumulate: auto}
schedule: {scaling: linear, warmup: 5%, decay: multi_step, milestones: [30 epochs, 60 epochs]}
comm: {backend: auto, bucket_mib: 25, timeout: 120s}
)",
                                        R"(# block style
optimizer:
  name: adamw
  groups:
    - match: "*.bias"
      weight_decay: 0
    - match: 'head.*'
      lr_factor: 1e1
user:
  text: |
    two
    lines
  folded: >-
    a
    b
)"};

const std::array<std::string, 22> kPieces{
    ":",  "- ", "[", "]",     "{",  "}", "&a ",  "*a",        "!!int ",   "\"", "'",
    "\n", "\t", "#", "---\n", "? ", "|", "<<: ", "%YAML 9\n", "\xff\xfe", "0x", std::string("\0\4", 2)};

class Mutator {
 public:
  std::string mutate(std::string text) {
    const int changes = 1 + below(4);
    for (int i = 0; i < changes; ++i) change(text);
    return text;
  }

 private:
  void change(std::string& text) {
    const std::size_t at = below(static_cast<int>(text.size()) + 1);
    const std::size_t length = std::min<std::size_t>(below(12), text.size() - at);
    switch (below(5)) {
      case 0: text.erase(at, length); break;
      case 1: text.insert(at, text.substr(below(static_cast<int>(at) + 1), length)); break;
      case 2: text.insert(at, kPieces[below(kPieces.size())]); break;
      case 3: text.resize(at); break;
      default:
        if (at < text.size()) text[at] = static_cast<char>(below(256));
    }
  }

  int below(int bound) { return static_cast<int>(random_() % static_cast<unsigned>(bound)); }

  std::mt19937 random_{20};
};

}  // namespace

TEST_CASE("whatever happens to a run file, it loads or is refused by a ConfigError") {
  const RunFile file("");
  const RunFile again("");
  Mutator mutator;
  int refused = 0;
  for (int i = 0; i < kMutations; ++i) {
    const std::string text = mutator.mutate(kValid[i % kValid.size()]);
    file.write(text);
    CAPTURE(i, text);
    try {
      const LoadedConfig loaded = load_config({.file = file.path()});
      again.write(print_config(loaded.config));
      REQUIRE(load_config({.file = again.path()}).config.user == loaded.config.user);
    } catch (const ConfigError&) {
      ++refused;
    }
  }
  CHECK(refused > kMutations / 2);
  CHECK(refused < kMutations);
}

TEST_CASE("whatever is typed after --set, it is taken or refused by a ConfigError") {
  const std::array<std::string, 3> valid{"batch.global=1024", "schedule.milestones=[30 epochs, 60 epochs]",
                                         "optimizer.groups=[{match: x, lr_factor: 2}]"};
  Mutator mutator;
  for (int i = 0; i < kMutations; ++i) {
    const std::string typed = mutator.mutate(valid[i % valid.size()]);
    CAPTURE(i, typed);
    try {
      load_config({.overrides = {typed}});
    } catch (const ConfigError& error) {
      REQUIRE_FALSE(std::string(error.what()).empty());
    }
  }
}
