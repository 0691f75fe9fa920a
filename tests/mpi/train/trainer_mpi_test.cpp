// What a run does on any number of ranks: order of data, learning rate, when it ends.
#include <map>
#include <sstream>

#include "support/trainer_world.hpp"

using namespace ddpkit;
using namespace ddpkit::testing;

namespace {

/// What is to be seen of a run on any rank.
struct Trace {
  std::vector<double> lr;
  std::vector<double> loss;
  std::vector<std::vector<double>> used;  ///< by step and sample, over all ranks: how often it was seen
};

Trace trace_of(Communicator& ranks, const RunConfig& config) {
  Trace trace;
  ToyTrainer toy(ranks, config);
  std::vector<double> seen(static_cast<std::size_t>(kTrainSamples));
  toy.loss = [&](const Batch& batch) {
    for (const std::int64_t id : batch.ids()) ++seen[static_cast<std::size_t>(id)];
    return toy_loss(toy.model, batch);
  };
  toy.trainer.add_callback(std::make_shared<AfterStep>([&](const Progress&, const StepResult& result) {
    trace.lr.push_back(result.lr);
    trace.loss.push_back(result.loss);
    ranks.all_reduce(std::span(seen), ReduceOp::sum).wait();
    trace.used.push_back(seen);
    seen.assign(seen.size(), 0);
    return Flow::go_on;
  }));
  toy.train();
  return trace;
}

}  // namespace

TEST_CASE("any number of ranks and micro-batches sees the same windows at the same learning rates and losses") {
  const auto ranks = make_communicator();
  const auto single = ranks->split(ranks->rank(), 0);  // each rank for itself
  RunConfig config = toy_config();
  config.schedule = {
      .scaling = Scaling::linear, .reference_batch = 6, .warmup = {2, Extent::Unit::epochs}, .decay = Decay::cosine};
  const Trace expected = trace_of(*single, config);
  CHECK(expected.lr.front() == Approx(0.05 * 12 / 6 / 4));  // linear scaling, the first of 4 warm-up steps
  CHECK(expected.lr[3] == Approx(0.1));
  for (const std::int64_t accumulate : {std::int64_t{1}, kGlobalBatch / ranks->world_size()}) {
    config.batch.accumulate = accumulate;
    const Trace trace = trace_of(*ranks, config);
    CAPTURE(accumulate);
    CHECK(trace.lr == expected.lr);
    CHECK(trace.used == expected.used);
    REQUIRE(trace.loss.size() == expected.loss.size());
    for (std::size_t i = 0; i < trace.loss.size(); ++i) CHECK(trace.loss[i] == Approx(expected.loss[i]).epsilon(1e-10));
  }
}

TEST_CASE("an epoch uses every sample once, and epochs differ in their order") {
  const auto ranks = make_communicator();
  const Trace trace = trace_of(*ranks, toy_config());
  REQUIRE(trace.used.size() == 12);
  for (std::size_t epoch = 0; epoch < 6; ++epoch)
    for (std::size_t id = 0; id < static_cast<std::size_t>(kTrainSamples); ++id)
      CHECK(trace.used[2 * epoch][id] + trace.used[2 * epoch + 1][id] == 1);
  CHECK(trace.used[0] != trace.used[2]);
}

TEST_CASE("a stop that one rank's callback asks for ends all ranks after the same step") {
  const auto ranks = make_communicator();
  const int last = ranks->world_size() - 1;
  ToyTrainer toy(*ranks, toy_config());
  std::int64_t steps = 0;
  toy.trainer.add_callback(std::make_shared<AfterStep>([&](const Progress& progress, const StepResult&) {
    steps = progress.step;
    return ranks->rank() == last && progress.step == 5 ? Flow::stop : Flow::go_on;
  }));
  const TrainSummary summary = toy.train();
  CHECK(summary.end == TrainSummary::End::early);
  CHECK(steps == 6);  // the wish travels with the next window
  CHECK(summary.progress.step == 6);
}

TEST_CASE("early stopping ends all ranks at the same step, after its patience") {
  const auto ranks = make_communicator();
  RunConfig config = toy_config();
  config.optimizer.lr = 1e-9;
  config.optimizer.momentum = 0;
  config.train = {.evaluate_every = {1, Extent::Unit::steps}, .patience = 3, .min_delta = 0.01};
  ToyTrainer toy(*ranks, config);
  const TrainSummary summary = toy.train(5);
  CHECK(summary.end == TrainSummary::End::early);
  CHECK(summary.progress.step == 4);  // the best of one, and three that are no better
}

TEST_CASE("a monitor that is no metric is refused before the first step, naming those there are") {
  const auto ranks = make_communicator();
  RunConfig config = toy_config();
  config.train.monitor = "valid/acuracy";
  ToyTrainer toy(*ranks, config);
  toy.loss = [](const Batch&) -> Loss { throw std::runtime_error("trained"); };
  CHECK_THROWS_WITH(toy.train(5), Catch::Contains("valid/acuracy") && Catch::Contains("valid/loss"));
}

TEST_CASE("data sets that differ between ranks are refused on all of them") {
  const auto ranks = make_communicator();
  if (ranks->world_size() == 1) return;
  ToyTrainer toy(*ranks, toy_config());
  const ToyDataset mine(kTrainSamples + (ranks->rank() == 1 ? 1 : 0));
  try {
    toy.trainer.train(mine);
    FAIL("nothing was thrown");
  } catch (const CommError& error) {
    CHECK(error.status() == ExitStatus::disagree);
    CHECK_THAT(error.what(), Catch::Contains("the training data") && Catch::Contains("23"));
  }
}

TEST_CASE("a run of no steps evaluates and ends") {
  const auto ranks = make_communicator();
  RunConfig config = toy_config();
  config.run.steps = 0;
  config.run.epochs = 0;
  ToyTrainer toy(*ranks, config);
  const TrainSummary summary = toy.train(5);
  CHECK(summary.end == TrainSummary::End::complete);
  CHECK(summary.samples_per_second == 0);
  CHECK(std::isfinite(summary.evaluation.value("loss")));
}

TEST_CASE("dropout differs between ranks and micro-batches, and is the same when the run is repeated") {
  const auto ranks = make_communicator();
  const auto masks = [&] {
    RunConfig config = toy_config();
    config.run.steps = 3;
    config.batch.global = 12 * ranks->world_size();
    config.batch.accumulate = 3;
    config.data.tail = Tail::pad;
    ToyTrainer toy(*ranks, config);
    std::string mine;
    toy.loss = [&](const Batch& batch) {
      const torch::Tensor mask = torch::dropout(torch::ones({40}), 0.5, /*train=*/true);
      for (std::int64_t i = 0; i < 40; ++i) mine += mask[i].item<float>() > 0 ? '1' : '0';
      mine += '\n';
      return toy_loss(toy.model, batch);
    };
    toy.train();
    std::string all;
    for (const std::string& text : gather_texts(*ranks, mine)) all += text;
    return all;
  };
  const std::string first = masks();
  std::map<std::string, int> counts;
  std::istringstream lines(first);
  for (std::string line; std::getline(lines, line);) ++counts[line];
  CHECK(counts.size() > 3);
  for (const auto& [mask, count] : counts) CHECK(count == 1);
  CHECK(masks() == first);
}

TEST_CASE("two trainers in one process do not disturb each other") {
  const auto ranks = make_communicator();
  const RunConfig config = toy_config();
  ToyTrainer expected(*ranks, config);
  expected.train();
  ToyTrainer first(*ranks, config);
  ToyTrainer second(*ranks, config);
  first.trainer.add_callback(std::make_shared<AfterStep>([&](const Progress& progress, const StepResult&) {
    if (progress.step == 4) second.train();  // in the middle of the first's run
    return Flow::go_on;
  }));
  first.train();
  CHECK(distance(*expected.model, *first.model) == 0);
  CHECK(distance(*expected.model, *second.model) == 0);
}

TEST_CASE("without a run folder nothing is written") {
  const auto ranks = make_communicator();
  const SharedFolder folder(*ranks);
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  RunConfig config = toy_config();
  config.checkpoint.every = {1, Extent::Unit::steps};
  ToyTrainer(*ranks, config).train(3);
  std::filesystem::current_path(before);
  ranks->barrier();
  if (ranks->rank() == 0) CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("a weighted order draws by the weights that the program gives") {
  const auto ranks = make_communicator();
  RunConfig config = toy_config();
  config.data.order = OrderKind::weighted;
  ToyTrainer toy(*ranks, config);
  std::vector<double> weights(kTrainSamples, 1);
  std::fill_n(weights.begin(), kTrainSamples / 2, 0);
  toy.trainer.set_sample_weights(weights);
  bool drawn_without_weight = false;
  toy.loss = [&](const Batch& batch) {
    for (const std::int64_t id : batch.ids()) drawn_without_weight |= id < kTrainSamples / 2;
    return toy_loss(toy.model, batch);
  };
  CHECK(toy.train().progress.step == config.run.steps);
  CHECK_FALSE(drawn_without_weight);

  ToyTrainer without(*ranks, config);
  CHECK_THROWS_WITH(without.train(), Catch::Contains("set_sample_weights"));
}
