// A batch that changes during training: the same windows on any number of ranks, each sample once, and resume lands between
// them.
#include <algorithm>
#include <fstream>
#include <iterator>

#include "ddpkit/base/text.hpp"
#include "ddpkit/data/make_order.hpp"
#include "support/trainer_world.hpp"

using namespace ddpkit;
using namespace ddpkit::testing;

namespace {

constexpr std::int64_t kCourseSamples = 100;
constexpr double kCourseRate = 0.02;

/// 12, from the middle of the second epoch on 24, from the fourth epoch on 48.
RunConfig course_config() {
  RunConfig config = toy_config();
  config.run.steps = 0;
  config.run.epochs = 5;
  config.optimizer.lr = kCourseRate;
  config.schedule = {.scaling = Scaling::linear, .reference_batch = 12};
  config.batch.schedule = {{.at = {1.5, Extent::Unit::epochs}, .global = 24, .lr = RateChange::hold},
                           {.at = {3, Extent::Unit::epochs}, .global = 48, .lr = RateChange::scale}};
  return config;
}

/// The windows of `course_config`, written down by hand: samples and rate.
struct PlannedWindow {
  std::int64_t samples;
  double lr;
};

std::vector<std::vector<PlannedWindow>> planned_epochs() {
  const auto of = [](std::initializer_list<std::int64_t> sizes, double lr) {
    std::vector<PlannedWindow> windows;
    for (const std::int64_t size : sizes) windows.push_back({size, lr});
    return windows;
  };
  return {of({12, 12, 12, 12, 12, 12, 12, 12, 4}, 0.02), of({12, 12, 12, 12, 12, 24, 16}, 0.02), of({24, 24, 24, 24, 4}, 0.02),
          of({48, 48, 4}, 0.04), of({48, 48, 4}, 0.04)};
}

constexpr std::int64_t kFirstChange = 9 + 5;  // step

struct CourseTrace {
  std::vector<std::int64_t> rows;
  std::vector<double> lr;
  std::vector<std::vector<double>> used;  ///< by epoch and sample, over all ranks
};

/// Trains and looks on.
CourseTrace trace_course(Communicator& ranks, ToyTrainer& toy, const Dataset* valid_set = nullptr) {
  CourseTrace trace;
  std::vector<double> seen(kCourseSamples);
  const auto loss = toy.loss;
  toy.loss = [&](const Batch& batch) {
    if (at::GradMode::is_enabled())
      for (const std::int64_t id : batch.ids()) ++seen[static_cast<std::size_t>(id)];
    return loss(batch);
  };
  toy.trainer.add_callback(std::make_shared<AfterStep>([&](const Progress& progress, const StepResult& result) {
    trace.rows.push_back(result.rows);
    trace.lr.push_back(result.lr);
    if (progress.epoch == std::floor(progress.epoch)) {
      ranks.all_reduce(std::span(seen), ReduceOp::sum).wait();
      trace.used.push_back(seen);
      seen.assign(seen.size(), 0);
    }
    return Flow::go_on;
  }));
  toy.trainer.train(ToyDataset(kCourseSamples), valid_set);
  return trace;
}

/// One process that knows nothing of ranks, windows or schedules.
torch::nn::Sequential reference_course(const RunConfig& config) {
  torch::nn::Sequential model = toy_model();
  torch::optim::SGD optimizer(model->parameters(), torch::optim::SGDOptions(kCourseRate).momentum(0.9));
  const ToyDataset data(kCourseSamples);
  const auto order =
      make_order(kCourseSamples, {.kind = config.data.order, .seed = static_cast<std::uint64_t>(config.run.seed)});
  const auto epochs = planned_epochs();
  for (std::size_t epoch = 0; epoch < epochs.size(); ++epoch) {
    std::int64_t position = 0;
    for (const PlannedWindow& window : epochs[epoch]) {
      std::vector<std::int64_t> ids;
      for (std::int64_t i = 0; i < window.samples; ++i) ids.push_back(order->at(static_cast<std::int64_t>(epoch), position++));
      static_cast<torch::optim::SGDOptions&>(optimizer.param_groups()[0].options()).lr(window.lr);
      optimizer.zero_grad();
      toy_loss(model, data.rows(ids)).mean.backward();
      optimizer.step();
    }
  }
  return model;
}

/// Trains until `steps` of the run are done; to its end for 0.
torch::nn::Sequential course_part(Communicator& ranks, const RunConfig& config, const Places& places, std::int64_t steps = 0) {
  ToyTrainer toy(ranks, config, places, toy_model(places.resume_from.empty() ? 1 : 99));
  if (steps > 0)
    toy.trainer.add_callback(std::make_shared<AfterStep>([=](const Progress& progress, const StepResult&) {
      return progress.step == steps - 1 ? Flow::stop : Flow::go_on;  // heard one step later
    }));
  toy.trainer.train(ToyDataset(kCourseSamples));
  return toy.model;
}

std::string read_all(const std::filesystem::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string course_refusal(Communicator& ranks, const RunConfig& config) {
  ToyTrainer toy(ranks, config);
  try {
    toy.trainer.train(ToyDataset(kCourseSamples));
  } catch (const Error& error) {
    return error.on_all_ranks() ? error.what() : "on one rank only";
  }
  return "";
}

}  // namespace

TEST_CASE("a table of batches gives the windows and rates that were written down by hand") {
  const auto ranks = make_communicator();
  ToyTrainer toy(*ranks, course_config());
  const CourseTrace trace = trace_course(*ranks, toy);
  std::vector<std::int64_t> rows;
  std::vector<double> lr;
  for (const auto& epoch : planned_epochs())
    for (const PlannedWindow& window : epoch) rows.push_back(window.samples), lr.push_back(window.lr);
  CHECK(trace.rows == rows);
  REQUIRE(trace.lr.size() == lr.size());
  for (std::size_t i = 0; i < lr.size(); ++i) CHECK(trace.lr[i] == Approx(lr[i]).epsilon(1e-14));
}

TEST_CASE("each epoch uses every sample exactly once, also where the batch changes in its middle") {
  const auto ranks = make_communicator();
  ToyTrainer toy(*ranks, course_config());
  const CourseTrace trace = trace_course(*ranks, toy);
  CHECK(trace.used == std::vector<std::vector<double>>(5, std::vector<double>(kCourseSamples, 1.0)));
}

TEST_CASE("a run whose batch changes ends with the parameters of a loop in one process over the same windows") {
  const auto ranks = make_communicator();
  for (const std::int64_t micro : {0, 2}) {
    RunConfig config = course_config();
    if (micro > 0) config.batch.max_micro = micro;
    CAPTURE(micro);
    CHECK(distance(*reference_course(config), *course_part(*ranks, config, {})) < 1e-10);
  }
}

TEST_CASE("stops before, at and after a change of the batch change not one bit") {
  const auto ranks = make_communicator();
  const RunConfig config = course_config();
  const torch::nn::Sequential expected = course_part(*ranks, config, {});
  for (const std::int64_t stop : {kFirstChange - 1, kFirstChange, kFirstChange + 1}) {
    const SharedFolder folder(*ranks);
    course_part(*ranks, config, {folder.run()}, stop);
    const torch::nn::Sequential resumed = course_part(*ranks, config, {folder.run(), folder.checkpoints()});
    CAPTURE(stop);
    CHECK(distance(*expected, *resumed) == 0);
    ranks->barrier();
  }
}

TEST_CASE("a run is not gone on with under another table of batches") {
  const auto ranks = make_communicator();
  RunConfig config = course_config();
  const SharedFolder folder(*ranks);
  course_part(*ranks, config, {folder.run()}, 3);
  config.batch.schedule.pop_back();
  try {
    course_part(*ranks, config, {folder.run(), folder.checkpoints()});
    FAIL("nothing was thrown");
  } catch (const Error& error) {
    CHECK_THAT(error.what(),
               Catch::Contains("what changes the batch was 24 at 1.5 epochs (lr hold), 48 at 3 epochs (lr scale)"));
  }
  ranks->barrier();
}

TEST_CASE("what changed is told with the division of the new batch and the rate, and files hold the batch of each step") {
  const auto ranks = make_communicator();
  const int world = ranks->world_size();
  RunConfig config = course_config();
  config.metrics.every = 1;
  config.batch.max_micro = 12 / world;
  const SharedFolder folder(*ranks);
  course_part(*ranks, config, {folder.run()});
  if (ranks->rank() == 0) {
    const std::string metrics = read_all(folder.run().metrics());
    const std::string tail = text(" x ", world, world == 1 ? " rank" : " ranks", ", lr ");
    CHECK_THAT(metrics, Catch::Contains(text("step 14, epoch 1: global batch 12 -> 24 = micro ", 12 / world, " x accumulate 2",
                                             tail, "held at 0.02")));
    CHECK_THAT(metrics, Catch::Contains(text("step 21, epoch 3: global batch 24 -> 48 = micro ", 12 / world, " x accumulate 4",
                                             tail, "scaled from 0.02 to 0.04")));
    CHECK_THAT(metrics, Catch::Contains("\"global_batch\":12.0") && Catch::Contains("\"global_batch\":48.0"));
    CHECK_THAT(metrics, Catch::Contains("training steps 0..27, 9 per epoch"));
  }
  ranks->barrier();
}

TEST_CASE("a decay over epochs falls by samples although the steps are fewer") {
  const auto ranks = make_communicator();
  RunConfig config = course_config();
  config.run.epochs = 2;
  config.data.tail = Tail::drop;  // 8 windows of 12 in an epoch
  config.schedule.decay = Decay::linear;
  config.batch.schedule = {{.at = {1, Extent::Unit::epochs}, .global = 48}};
  ToyTrainer toy(*ranks, config);
  const CourseTrace trace = trace_course(*ranks, toy);
  // 16 steps at the batch of 12 fall from 15/15 to 0/15; the two windows of 48 stand for the twelfth and the last of them.
  const std::vector<double> fifteenths{15, 14, 13, 12, 11, 10, 9, 8, 4, 0};
  REQUIRE(trace.lr.size() == fifteenths.size());
  for (std::size_t i = 0; i < fifteenths.size(); ++i)
    CHECK(trace.lr[i] == Approx(kCourseRate * fifteenths[i] / 15).margin(1e-15));
}

TEST_CASE("a run given in steps ends after them and falls by them, whatever the batch") {
  const auto ranks = make_communicator();
  RunConfig config = course_config();
  config.run.steps = 6;
  config.schedule.decay = Decay::linear;
  config.batch.schedule = {{.at = {50, Extent::Unit::percent}, .global = 48}};
  ToyTrainer toy(*ranks, config);
  const CourseTrace trace = trace_course(*ranks, toy);
  CHECK(trace.rows == std::vector<std::int64_t>{12, 12, 12, 48, 16, 48});
  for (std::size_t i = 0; i < 6; ++i)
    CHECK(trace.lr[i] == Approx(kCourseRate * (1 - static_cast<double>(i) / 5)).margin(1e-15));
}

TEST_CASE("growth by the calendar doubles to its limit") {
  const auto ranks = make_communicator();
  RunConfig config = course_config();
  config.batch.schedule.clear();
  config.batch.growth = {.by = GrowthBy::geometric, .every = {1, Extent::Unit::epochs}, .max = 50};
  config.run.epochs = 4;
  ToyTrainer toy(*ranks, config);
  const CourseTrace trace = trace_course(*ranks, toy);
  CHECK(trace.rows == std::vector<std::int64_t>{12, 12, 12, 12, 12, 12, 12, 12, 4, 24, 24, 24, 24, 4, 48, 48, 4, 48, 48, 4});
  CHECK(trace.lr == std::vector<double>(trace.lr.size(), kCourseRate));
}

TEST_CASE("the batch grows with the noise scale on all ranks alike, and each epoch still uses every sample once") {
  const auto ranks = make_communicator();
  RunConfig config = course_config();
  config.batch.schedule.clear();
  config.batch.max_micro = 1;  // so that one rank has something to compare
  config.batch.growth = {.by = GrowthBy::noise_scale, .every = {4, Extent::Unit::steps}, .max = 48};
  config.metrics.noise_steps = 10;
  ToyTrainer toy(*ranks, config);
  const CourseTrace trace = trace_course(*ranks, toy);
  const std::int64_t largest = *std::max_element(trace.rows.begin(), trace.rows.end());
  CHECK(largest >= 24);
  CHECK(agree_min(*ranks, static_cast<std::int64_t>(trace.rows.size())) == static_cast<std::int64_t>(trace.rows.size()));
  CHECK(trace.used == std::vector<std::vector<double>>(5, std::vector<double>(kCourseSamples, 1.0)));
}

TEST_CASE("growth by a noise scale that one micro-batch of one rank cannot show is refused") {
  const auto ranks = make_communicator();
  RunConfig config = course_config();
  config.batch.schedule.clear();
  config.batch.growth.by = GrowthBy::noise_scale;
  const std::string refusal = course_refusal(*ranks, config);
  if (ranks->world_size() == 1)
    CHECK_THAT(refusal, Catch::Contains("batch.growth.by") && Catch::Contains("batch.accumulate: 2"));
  else
    CHECK(refusal.empty());
}

namespace {

/// Halves after two turns, evaluated after every fifth step with a loss that swings.
struct SwingingRun {
  explicit SwingingRun(Communicator& ranks, const Places& places = {}, std::int64_t steps = 0)
      : toy(ranks, swinging_config(), places, toy_model(places.resume_from.empty() ? 1 : 99)) {
    toy.loss = [this](const Batch& batch) -> Loss {
      if (at::GradMode::is_enabled()) return toy_loss(toy.model, batch);
      return torch::full({}, now / 5 % 2 == 0 ? 1.0 : 2.0, torch::kDouble);
    };
    toy.trainer.add_callback(std::make_shared<AfterStep>([this, steps](const Progress& progress, const StepResult& result) {
      now = progress.step;
      rows.push_back(result.rows);
      return steps > 0 && progress.step == steps - 1 ? Flow::stop : Flow::go_on;
    }));
    const ToyDataset valid_set(8);
    toy.trainer.train(ToyDataset(kCourseSamples), &valid_set);
  }

  static RunConfig swinging_config() {
    RunConfig config = course_config();
    config.batch.global = 48;
    config.batch.schedule.clear();
    config.batch.shrink = {.oscillations = 2, .lr = RateChange::hold};
    config.train.evaluate_every = {5, Extent::Unit::steps};
    config.run.steps = 30;
    return config;
  }

  std::int64_t now = 0;
  std::vector<std::int64_t> rows;
  ToyTrainer toy;
};

}  // namespace

TEST_CASE("the batch is halved on all ranks when the validation loss swings, and a resumed run halves where it would have") {
  const auto ranks = make_communicator();
  const SwingingRun whole(*ranks);
  // Evaluations after 5, 10, 15, 20 steps: the second turn comes with the fourth.
  REQUIRE(whole.rows.size() == 30);
  CHECK(std::vector<std::int64_t>(whole.rows.begin() + 18, whole.rows.begin() + 24) ==
        std::vector<std::int64_t>{48, 48, 4, 24, 24, 24});
  for (const std::int64_t stop : {16, 20, 22}) {
    const SharedFolder folder(*ranks);
    SwingingRun(*ranks, {.run_folder = folder.run()}, stop);
    const SwingingRun resumed(*ranks, {folder.run(), folder.checkpoints()});
    CAPTURE(stop);
    CHECK(resumed.rows == std::vector<std::int64_t>(whole.rows.begin() + stop, whole.rows.end()));
    CHECK(distance(*whole.toy.model, *resumed.toy.model) == 0);
    ranks->barrier();
  }
}

TEST_CASE("a batch that the data set or the ranks have no room for is refused by its row before the first step, on all ranks") {
  const auto ranks = make_communicator();
  RunConfig config = course_config();
  config.batch.schedule[1].global = 144;
  CHECK_THAT(course_refusal(*ranks, config), Catch::Contains("batch.schedule[1].global: 144") && Catch::Contains("100"));
  if (ranks->world_size() == 1) return;
  config.batch.schedule[1].global = 49;
  CHECK_THAT(course_refusal(*ranks, config), Catch::Contains("batch.schedule[1]") && Catch::Contains("49"));
}

TEST_CASE("halving without a validation set is refused") {
  const auto ranks = make_communicator();
  RunConfig config = course_config();
  config.batch.schedule.clear();
  config.batch.shrink = {.oscillations = 2, .lr = RateChange::hold};
  CHECK_THAT(course_refusal(*ranks, config), Catch::Contains("batch.shrink") && Catch::Contains("data.valid"));
}
