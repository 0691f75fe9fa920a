// The noise scale of a run: in the metrics, in the log's last words, and nowhere in the parameters.
#include <fstream>
#include <sstream>

#include "support/trainer_world.hpp"

using namespace ddpkit;
using namespace ddpkit::testing;

namespace {

enum class Watch { noise, nothing };

RunConfig noise_config(Watch watch, std::int64_t accumulate) {
  RunConfig config = toy_config();
  config.batch.accumulate = accumulate;
  config.metrics.every = 4;
  config.metrics.noise_scale = watch == Watch::noise;
  return config;
}

std::string metrics_in(const SharedFolder& folder) {
  std::ifstream in(std::filesystem::path(folder.path()) / "metrics.jsonl");
  std::ostringstream all;
  all << in.rdbuf();
  return all.str();
}

std::size_t occurrences(const std::string& text, const std::string& word) {
  std::size_t count = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
  return count;
}

}  // namespace

TEST_CASE("the noise scale with its band is in every training record, and the run ends with advice") {
  const auto ranks = make_communicator();
  const SharedFolder folder(*ranks);
  ToyTrainer toy(*ranks, noise_config(Watch::noise, kGlobalBatch / ranks->world_size()), {.run_folder = folder.run()});
  std::int64_t windows = 0;
  toy.trainer.add_callback(std::make_shared<AfterStep>([&](const Progress&, const StepResult& result) {
    windows += result.noise ? 1 : 0;
    return Flow::go_on;
  }));
  toy.train();
  CHECK(windows >= 6);  // every other window is short, and cannot be cut equally on most numbers of ranks
  if (ranks->rank() != 0) return;
  const std::string metrics = metrics_in(folder);
  for (const std::string name : {"noise_scale", "noise_scale_low", "noise_scale_high", "grad_variance"})
    CHECK(occurrences(metrics, '"' + name + '"') >= 3);  // twice where it is infinite
  CHECK(occurrences(metrics, "global batch 12") >= 2);   // how the run began, and the advice
  CHECK(occurrences(metrics, "the critical batch") == 1);
}

TEST_CASE("a run that cannot know its noise scale says so without a warning") {
  const auto ranks = make_communicator();
  const auto single = ranks->split(ranks->rank(), 0);
  const TemporaryFolder folder;
  ToyTrainer toy(*single, noise_config(Watch::noise, 1), {.run_folder = RunFolder(folder.path().string())});
  toy.train();
  std::ifstream in(folder.path() / "metrics.jsonl");
  std::ostringstream all;
  all << in.rdbuf();
  CHECK(occurrences(all.str(), "the critical batch is not known") == 1);
}

TEST_CASE("a run that watches its noise ends with the same bits as one that does not") {
  const auto ranks = make_communicator();
  for (const Overlap overlap : {Overlap::on, Overlap::off})
    for (const std::int64_t accumulate : {std::int64_t{1}, kGlobalBatch / ranks->world_size()}) {
      RunConfig watching = noise_config(Watch::noise, accumulate), blind = noise_config(Watch::nothing, accumulate);
      watching.reducer.overlap = blind.reducer.overlap = overlap;
      ToyTrainer first(*ranks, watching), second(*ranks, blind);
      first.train();
      second.train();
      CHECK(distance(*first.model, *second.model) == 0);
    }
}
